-- A run that brings pages of the web into a space is seen by who reads that space, from the moment it
-- is asked for on, and so is a file of a run that is to stand there and is no document as yet. Every
-- migration makes the policies anew that are not there.
DROP POLICY IF EXISTS limited ON runs;
DROP POLICY IF EXISTS limited ON run_files;
