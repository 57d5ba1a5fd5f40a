package copylog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// Errors that a Place returns. If an object does not exist, the error is fs.ErrNotExist.
var (
	// ErrExists is the error of Put when an object with that name exists.
	ErrExists = errors.New("there is an object of that name already")
	// ErrChanged is the error of Replace when the object is not the version to be replaced, because another process has
	// written it.
	ErrChanged = errors.New("another process has written it meanwhile")
	// ErrDenied is the error when the caller has no permission for the operation.
	ErrDenied = errors.New("access is denied")
	// ErrBusy is the error when the server cannot do the operation now; a later attempt may succeed.
	ErrBusy = errors.New("the server cannot do that now")
	// ErrLarge is the error of ReadAll when the object is larger than the limit of the read.
	ErrLarge = errors.New("it is larger than an object of its kind")
)

// Place stores the objects of one copy of a log: a directory or a bucket. Names are relative to it, with slashes. When
// a call that writes returns, the write is durable. Any goroutine may call any method.
type Place interface {
	// Get opens an object for reading. The caller must close it.
	Get(ctx context.Context, name string) (Opened, error)

	// Range returns `bytes` bytes of an object from offset `from` on, or fewer at the end of the object.
	Range(ctx context.Context, name string, from, bytes int64) ([]byte, error)

	// Size returns the size of an object in bytes.
	Size(ctx context.Context, name string) (int64, error)

	// Put creates an object. If an object with this name exists, it changes nothing and returns ErrExists.
	Put(ctx context.Context, name string, content io.ReaderAt, size int64) error

	// Replace overwrites the object if its current version has this tag (ID of a version, from Get or Replace); the tag
	// "" means that no object exists. It returns the tag of the new version. If the current version has another tag, it
	// returns ErrChanged.
	Replace(ctx context.Context, name string, content []byte, tag string) (string, error)

	// Delete removes an object. A missing object is no error.
	Delete(ctx context.Context, name string) error

	// String returns the address of the place for users, without secrets.
	String() string
}

// Tidier is a Place in which an interrupted write may leave something that is not an object of the copy.
type Tidier interface {
	// Tidy removes what writes that were interrupted before the given time have left.
	Tidy(ctx context.Context, before time.Time) error
}

// Opened is an object that is being read. The caller must close it.
type Opened struct {
	io.ReadCloser
	// Tag identifies this version of the object, for Replace.
	Tag string
}

// ReadAll reads an object of at most `most` bytes. For a larger object, which cannot be ours, it returns ErrLarge.
func ReadAll(ctx context.Context, p Place, name string, most int64) (content []byte, tag string, err error) {
	o, err := p.Get(ctx, name)
	if err != nil {
		return nil, "", err
	}
	defer func() { err = errors.Join(err, o.Close()) }()
	content, err = io.ReadAll(io.LimitReader(o, most+1))
	if err == nil && int64(len(content)) > most {
		err = fmt.Errorf("%s: %w", name, ErrLarge)
	}
	return content, o.Tag, err
}
