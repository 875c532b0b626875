"""Worker processes that can be killed: all work whose size a stranger chooses runs in them.

An adapter behind `ports.Workers`. Import nothing heavy here: each worker process begins with this package.
"""
