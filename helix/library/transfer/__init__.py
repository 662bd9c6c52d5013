"""Export and import of a tenant: its rows and original files, in a folder of plain files."""
