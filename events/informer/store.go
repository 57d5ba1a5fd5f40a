package informer

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/jobledger/jobledger/events/observation"
	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

var errStopped = errors.New("the informer ends")

// store is the store of a resource's reflector. It keeps nothing and passes each call on to the resource. The reflector
// only logs errors from a store, so an error that must end Run also goes to fail.
type store[O kubewire.Object] struct {
	resource observation.Resource[O]
	source   *source
	read     func(runtime.Object) (runtime.Object, error) // converts an object from a list or the watch; nil for none
	fail     func(error)
	stopped  <-chan struct{} // closed when the informer ends
}

func (s store[O]) Add(obj any) error    { return s.Update(obj) }
func (s store[O]) Resync() error        { return nil }
func (s store[O]) Update(obj any) error { return s.with(obj, s.resource.Changed) }
func (s store[O]) Delete(obj any) error { return s.with(obj, s.resource.Deleted) }

// Replace takes a list, from a LIST or from the beginning of a watch.
func (s store[O]) Replace(objs []any, version string) error {
	objects, err := s.all(objs)
	if err == nil && !s.resource.WaitTurn(s.stopped) {
		return errStopped
	}
	if err == nil {
		err = s.source.judge(s.resource.Replace(objects, version, s.source.consistent.Load()))
	}
	return s.checked(err)
}

// Bookmark implements cache.ReflectorBookmarkStore.
func (s store[O]) Bookmark(version string) error { return s.checked(s.resource.Bookmark(version)) }

// Transformer implements cache.TransformingStore: it strips objects of a streamed list in the reflector's temporary
// store.
func (s store[O]) Transformer() cache.TransformFunc {
	return func(obj any) (any, error) {
		if o, ok := obj.(O); ok {
			s.resource.Strip(o)
		}
		return obj, nil
	}
}

func (s store[O]) with(obj any, do func(O) error) error {
	o, err := s.one(obj)
	if err != nil {
		return s.checked(err)
	}
	return s.checked(do(o))
}

// one converts an object from a list or the watch.
func (s store[O]) one(obj any) (o O, err error) {
	if whole, ok := obj.(runtime.Object); ok && s.read != nil {
		if obj, err = s.read(whole); err != nil {
			return o, err
		}
	}
	o, ok := obj.(O)
	if !ok {
		return o, fmt.Errorf("a list or the watch brought a %T: %w", obj, observation.ErrUnusable)
	}
	return o, nil
}

func (s store[O]) checked(err error) error {
	if errors.Is(err, observation.ErrUnusable) {
		s.fail(err)
	}
	return err
}

func (s store[O]) all(objs []any) ([]O, error) {
	list := make([]O, 0, len(objs))
	for _, obj := range objs {
		o, err := s.one(obj)
		if err != nil {
			return nil, err
		}
		if s.read != nil {
			// Strip here, because Transformer runs before read has converted the object and could not strip it
			s.resource.Strip(o)
		}
		list = append(list, o)
	}
	return list, nil
}

var (
	_ cache.TransformingStore      = store[kubewire.Object]{}
	_ cache.ReflectorBookmarkStore = store[kubewire.Object]{}
)
