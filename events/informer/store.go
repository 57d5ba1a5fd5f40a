package informer

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

var errStopped = errors.New("the informer ends")

// store is what the reflector of a resource writes to. It keeps nothing: each call goes on to the resource. The
// reflector would swallow an error of the watch's, so those that end everything go to fail as well.
type store[O object, K kept] struct {
	resource *resource[O, K]
	source   *source
	read     func(runtime.Object) (runtime.Object, error) // see access
	fail     func(error)
	stopped  <-chan struct{} // the informer ends
}

func (s store[O, K]) Add(obj any) error    { return s.Update(obj) }
func (s store[O, K]) Resync() error        { return nil }
func (s store[O, K]) Update(obj any) error { return s.with(obj, s.resource.changed) }
func (s store[O, K]) Delete(obj any) error { return s.with(obj, s.resource.deleted) }

// Replace takes a list, whether it came by LIST or by a watch that began with it.
func (s store[O, K]) Replace(objs []any, version string) error {
	objects, err := s.all(objs)
	if err == nil && !s.resource.listing.wait(s.stopped) {
		return errStopped
	}
	if err == nil {
		err = s.source.judge(s.resource.replace(objects, version, s.source.consistent.Load()))
	}
	return s.checked(err)
}

// Bookmark implements cache.ReflectorBookmarkStore.
func (s store[O, K]) Bookmark(version string) error { return s.checked(s.resource.bookmark(version)) }

// Transformer implements cache.TransformingStore. The transform is that of the reflector's temporary store, which holds
// a list that is streamed.
func (s store[O, K]) Transformer() cache.TransformFunc {
	return func(obj any) (any, error) {
		if o, ok := obj.(O); ok {
			s.resource.kind.strip(o)
		}
		return obj, nil
	}
}

func (s store[O, K]) with(obj any, do func(O) error) error {
	o, err := s.one(obj)
	if err != nil {
		return s.checked(err)
	}
	return s.checked(do(o))
}

// one is an object that a list or the watch brought.
func (s store[O, K]) one(obj any) (o O, err error) {
	if whole, ok := obj.(runtime.Object); ok && s.read != nil {
		if obj, err = s.read(whole); err != nil {
			return o, err
		}
	}
	o, ok := obj.(O)
	if !ok {
		return o, fmt.Errorf("a list or the watch brought a %T: %w", obj, ErrUnusable)
	}
	return o, nil
}

func (s store[O, K]) checked(err error) error {
	if errors.Is(err, ErrUnusable) {
		s.fail(err)
	}
	return err
}

func (s store[O, K]) all(objs []any) ([]O, error) {
	list := make([]O, 0, len(objs))
	for _, obj := range objs {
		o, err := s.one(obj)
		if err != nil {
			return nil, err
		}
		if s.read != nil {
			s.resource.kind.strip(o) // see Transformer, which saw a whole one
		}
		list = append(list, o)
	}
	return list, nil
}

var (
	_ cache.TransformingStore      = store[object, kept]{}
	_ cache.ReflectorBookmarkStore = store[object, kept]{}
)
