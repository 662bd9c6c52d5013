"""Language models on this machine: their files, and llama.cpp's server over one."""
