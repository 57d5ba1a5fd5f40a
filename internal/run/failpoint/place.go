package failpoint

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/jobledger/jobledger/store/copylog"
)

// Place returns the destination of a copy with a point before and a point after each call. At a point, the process can
// be made to end. The second point is passed only if the call succeeded.
func (p *Points) Place(place copylog.Place) copylog.Place { return &pointPlace{place, p} }

type pointPlace struct {
	copylog.Place
	points *Points
}

func (a *pointPlace) passing(verb string, do func() error) error {
	a.points.pass(PlaceBefore + "." + verb)
	err := do()
	if err == nil {
		a.points.pass(PlaceAfter + "." + verb)
	}
	return err
}

func (a *pointPlace) Get(ctx context.Context, name string) (o copylog.Opened, err error) {
	err = a.passing(GetObject, func() error { o, err = a.Place.Get(ctx, name); return err })
	return o, err
}

func (a *pointPlace) Put(ctx context.Context, name string, content io.ReaderAt, size int64) error {
	return a.passing(PutObject, func() error { return a.Place.Put(ctx, name, content, size) })
}

func (a *pointPlace) Replace(ctx context.Context, name string, content []byte, tag string) (now string, err error) {
	err = a.passing(ReplaceManifest, func() error { now, err = a.Place.Replace(ctx, name, content, tag); return err })
	return now, err
}

func (a *pointPlace) Delete(ctx context.Context, name string) error {
	return a.passing(DeleteObject, func() error { return a.Place.Delete(ctx, name) })
}

// Tidy implements copylog.Tidier: it passes the call on, without a point.
func (a *pointPlace) Tidy(ctx context.Context, before time.Time) error {
	if place, is := a.Place.(copylog.Tidier); is {
		return place.Tidy(ctx, before)
	}
	return nil
}

// Written implements copylog.Dated: it passes the call on, without a point.
func (a *pointPlace) Written(ctx context.Context, name string) (time.Time, error) {
	place, is := a.Place.(copylog.Dated)
	if !is {
		return time.Time{}, errors.ErrUnsupported
	}
	return place.Written(ctx, name)
}
