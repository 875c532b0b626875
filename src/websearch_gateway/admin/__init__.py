"""Operating a gateway: reports, the doctor, care for the cache, copying the state. Tools and the command line call it."""
