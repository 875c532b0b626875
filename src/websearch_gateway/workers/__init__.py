"""Worker processes that can be killed, for all work whose size an outsider chooses.

An adapter behind `ports.Workers`. Import nothing heavy here: each worker process imports this package first.
"""
