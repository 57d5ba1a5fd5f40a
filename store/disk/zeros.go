package disk

import "os"

// WriteZeros extends f to size `to` with zeros. It is used where fallocate is not available. Existing holes in f
// remain.
func WriteZeros(f *os.File, to int64) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	zeros := make([]byte, 1<<20)
	for at := info.Size(); at < to; {
		n, err := f.WriteAt(zeros[:min(int64(len(zeros)), to-at)], at)
		if err != nil {
			return err
		}
		at += int64(n)
	}
	return nil
}
