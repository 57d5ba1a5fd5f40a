package boltlog

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store/regular"
)

// hashFile is the SHA-256 of a file's bytes, and how many they are.
func hashFile(ctx context.Context, path string) (bytes int64, sum events.Hash, err error) {
	f, err := regular.Open(path)
	if err != nil {
		return 0, sum, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	h, part := sha256.New(), make([]byte, 1<<20)
	for err == nil {
		var n int
		if n, err = f.Read(part); n > 0 {
			_, _ = h.Write(part[:n]) // never fails
			bytes += int64(n)
		}
		if err == nil {
			err = ctx.Err()
		}
	}
	if !errors.Is(err, io.EOF) {
		return bytes, sum, err
	}
	copy(sum[:], h.Sum(nil))
	return bytes, sum, nil
}
