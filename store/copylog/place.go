package copylog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// Errors of a Place. A missing object is fs.ErrNotExist.
var (
	// ErrExists: an object with that name exists.
	ErrExists = errors.New("there is an object of that name already")
	// ErrChanged: the object is not the one that was to be replaced, because another process wrote it.
	ErrChanged = errors.New("another process has written it meanwhile")
	// ErrDenied: the caller has no right to the operation.
	ErrDenied = errors.New("access is denied")
	// ErrBusy: the server cannot do the operation now.
	ErrBusy = errors.New("the server cannot do that now")
	// ErrLarge: the object is larger than the limit of the read.
	ErrLarge = errors.New("it is larger than an object of its kind")
)

// Place stores the objects of one copy. Names are relative to it, with slashes. A write is durable when the call
// returns. Any goroutine may call any method.
type Place interface {
	// Get opens an object. The caller closes it.
	Get(ctx context.Context, name string) (Opened, error)

	// Range returns bytes bytes of an object at the offset from, or fewer at its end.
	Range(ctx context.Context, name string, from, bytes int64) ([]byte, error)

	// Size returns the number of bytes of an object.
	Size(ctx context.Context, name string) (int64, error)

	// Put creates an object. It returns ErrExists, and changes nothing, when one with that name exists.
	Put(ctx context.Context, name string, content io.ReaderAt, size int64) error

	// Replace overwrites the object that has this tag; the tag "" means that none exists. It returns the new tag. It
	// returns ErrChanged when the current object has another tag.
	Replace(ctx context.Context, name string, content []byte, tag string) (string, error)

	// Delete removes an object. A missing object is no error.
	Delete(ctx context.Context, name string) error

	// String returns the place for people, without secrets.
	String() string
}

// Tidier is a Place in which an interrupted write may leave something that is no object.
type Tidier interface {
	// Tidy removes such remains from before the given time.
	Tidy(ctx context.Context, before time.Time) error
}

// Opened is an object being read. The caller closes it.
type Opened struct {
	io.ReadCloser
	// Tag identifies this content of the object, for Replace.
	Tag string
}

// ReadAll reads an object of at most most bytes. It returns ErrLarge for a larger one, which cannot be ours.
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
