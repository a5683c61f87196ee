"""What one principal may use, how slots are shared among principals, and how many slots the open jobs want."""
