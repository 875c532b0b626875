"""The direct dependencies of a project, the versions in use, and the indexes that its packages come from.

`reading.read_project` runs in a worker process: files of a project are a stranger's. They are read, never run. `python`
and `javascript` read manifests and lock files, `requirements` what pip reads, `registry_settings` the settings of package
managers.

The name of a package of a private index may be private too. So a public registry is asked only for packages that come
from it: where a setting of a package manager names another index, the lock file must say so (`origins`).
"""
