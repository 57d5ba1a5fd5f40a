package ins3

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"

	"github.com/jobledger/jobledger/store/copylog"
)

// Place is a bucket, or a prefix in a bucket, with the objects of a copy of a log. Use New to create one.
type Place struct {
	client         *minio.Core
	bucket, prefix string
}

var _ copylog.Place = (*Place)(nil)

func (p *Place) String() string { return "s3://" + path.Join(p.bucket, p.prefix) }

func (p *Place) key(name string) string { return path.Join(p.prefix, name) }

// Get implements copylog.Place: it opens an object of the bucket; its tag is the ETag.
func (p *Place) Get(ctx context.Context, name string) (copylog.Opened, error) {
	content, info, _, err := p.client.GetObject(ctx, p.bucket, p.key(name), minio.GetObjectOptions{})
	if err != nil {
		return copylog.Opened{}, p.explain(name, err)
	}
	return copylog.Opened{ReadCloser: content, Tag: info.ETag}, nil
}

// Range implements copylog.Place: it returns n bytes of an object from byte `from` on.
func (p *Place) Range(ctx context.Context, name string, from, n int64) ([]byte, error) {
	var options minio.GetObjectOptions
	if err := options.SetRange(from, from+n-1); err != nil {
		return nil, err
	}
	content, _, _, err := p.client.GetObject(ctx, p.bucket, p.key(name), options)
	if minio.ToErrorResponse(err).StatusCode == http.StatusRequestedRangeNotSatisfiable {
		return nil, nil // the object is shorter than `from` bytes, so there is nothing to read
	}
	if err != nil {
		return nil, p.explain(name, err)
	}
	part, err := io.ReadAll(io.LimitReader(content, n))
	if closed := content.Close(); err == nil {
		err = closed
	}
	return part, err
}

// Size implements copylog.Place: it returns the size of an object.
func (p *Place) Size(ctx context.Context, name string) (int64, error) {
	info, err := p.client.StatObject(ctx, p.bucket, p.key(name), minio.StatObjectOptions{})
	if err != nil {
		return 0, p.explain(name, err)
	}
	return info.Size, nil
}

// Put implements copylog.Place: it uploads an object in one request, on the condition that the name is free
// (If-None-Match).
func (p *Place) Put(ctx context.Context, name string, content io.ReaderAt, size int64) error {
	options := whole()
	options.SetMatchETagExcept("*")
	_, err := p.client.Client.PutObject(ctx, p.bucket, p.key(name), io.NewSectionReader(content, 0, size), size, options)
	if isPrecondition(err) {
		return fmt.Errorf("%s: %w", p.key(name), copylog.ErrExists)
	}
	return p.explain(name, err)
}

// Replace implements copylog.Place: it uploads an object, on the condition that its current ETag is tag (If-Match); ""
// means that the name is free.
func (p *Place) Replace(ctx context.Context, name string, content []byte, tag string) (string, error) {
	options := whole()
	if tag == "" {
		options.SetMatchETagExcept("*")
	} else {
		options.SetMatchETag(tag)
	}
	info, err := p.client.Client.PutObject(ctx, p.bucket, p.key(name), bytes.NewReader(content), int64(len(content)), options)
	if isPrecondition(err) || tag != "" && minio.ToErrorResponse(err).Code == minio.NoSuchKey {
		return "", fmt.Errorf("%s: %w", p.key(name), copylog.ErrChanged)
	}
	return info.ETag, p.explain(name, err)
}

// whole returns options for an upload with a single request. In an upload of several parts, not every server supports a
// condition.
func whole() minio.PutObjectOptions {
	return minio.PutObjectOptions{DisableMultipart: true, ContentType: "application/octet-stream"}
}

// isPrecondition reports whether a condition of a write was not met. Status 409 means that two conditional writes came
// at the same moment.
func isPrecondition(err error) bool {
	status := minio.ToErrorResponse(err).StatusCode
	return err != nil && (status == http.StatusPreconditionFailed || status == http.StatusConflict)
}

// Delete implements copylog.Place: it removes an object from the bucket.
func (p *Place) Delete(ctx context.Context, name string) error {
	return p.explain(name, p.client.Client.RemoveObject(ctx, p.bucket, p.key(name), minio.RemoveObjectOptions{}))
}

// explain adds the object's name to an error. It makes the error match fs.ErrNotExist if the object is missing.
func (p *Place) explain(name string, err error) error {
	if err == nil {
		return nil
	}
	response := minio.ToErrorResponse(err)
	switch {
	case response.Code == minio.NoSuchBucket:
		return fmt.Errorf("there is no bucket %s: make it, and give this program the right to read, write and delete objects in it", p.bucket)
	case response.StatusCode == http.StatusNotFound:
		return fmt.Errorf("%s: %w", strings.TrimPrefix(p.key(name), "/"), fs.ErrNotExist)
	}
	switch status := response.StatusCode; {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		err = fmt.Errorf("%w: %w", copylog.ErrDenied, err)
	case status == http.StatusTooManyRequests || status >= http.StatusInternalServerError:
		err = fmt.Errorf("%w: %w", copylog.ErrBusy, err)
	}
	return fmt.Errorf("%s: %w", p.key(name), err)
}

// Written returns when an object was written, by the server's clock, in whole seconds.
func (p *Place) Written(ctx context.Context, name string) (time.Time, error) {
	info, err := p.client.StatObject(ctx, p.bucket, p.key(name), minio.StatObjectOptions{})
	if err != nil {
		return time.Time{}, p.explain(name, err)
	}
	return info.LastModified, nil
}
