"""Killable worker processes. All work whose size an outsider chooses runs in them.

An adapter behind `ports.Workers`. Import nothing heavy here: each worker process imports this package first.
"""
