package copylog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// The errors of a Place that its users match. An object that is not there is fs.ErrNotExist.
var (
	// ErrExists: there is an object of that name.
	ErrExists = errors.New("there is an object of that name already")
	// ErrChanged: the object is not the one that was to be replaced: another process wrote it.
	ErrChanged = errors.New("another process has written it meanwhile")
	// ErrDenied: whoever asks has no right to that.
	ErrDenied = errors.New("access is denied")
	// ErrBusy: the server answers that it cannot do that now.
	ErrBusy = errors.New("the server cannot do that now")
	// ErrLarge: the object has more bytes than it was read for.
	ErrLarge = errors.New("it is larger than an object of its kind")
)

// Place has the objects of one copy. Names are relative to it, with slashes. What a call has put is durable when it
// returns. Any goroutine may call any method.
type Place interface {
	// Get opens an object.
	Get(ctx context.Context, name string) (Opened, error)

	// Range reads a part of an object; less than that where the object ends.
	Range(ctx context.Context, name string, from, bytes int64) ([]byte, error)

	// Size is the bytes of an object.
	Size(ctx context.Context, name string) (int64, error)

	// Put makes an object. The error is ErrExists when there is one of that name: it stays as it is.
	Put(ctx context.Context, name string, content io.ReaderAt, size int64) error

	// Replace writes an object in the place of the one that has that tag; "" is for none. It returns the new tag. The
	// error is ErrChanged when there is another one.
	Replace(ctx context.Context, name string, content []byte, tag string) (string, error)

	// Delete removes an object. One that is not there is no error.
	Delete(ctx context.Context, name string) error

	// String is the place in words for people, without secrets.
	String() string
}

// Tidier is a Place in which a writer that ends early may leave what is no object.
type Tidier interface {
	// Tidy removes what was left there before that time.
	Tidy(ctx context.Context, before time.Time) error
}

// Opened is an object that is being read. Whoever got it closes it.
type Opened struct {
	io.ReadCloser
	// Tag is of this content of the object: Replace asks for it.
	Tag string
}

// ReadAll reads an object of at most so many bytes. A larger one is an error: it is none of ours.
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
