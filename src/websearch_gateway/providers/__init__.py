"""Raw search vendors, one small file each; PROVIDERS is the ordered table."""
