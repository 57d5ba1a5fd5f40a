package informer

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/watchlist"
)

// source lists and watches one resource for a reflector. It never lets the server answer a list from a state of any
// age: a first list would be asked for with resourceVersion 0, which a lagging server answers with the past. A
// reflector that has a version asks for a state not older than it; see insist.
//
// A cluster that was restored from a backup has not reached that version yet, or reaches it with other contents. A
// watch from it would be silent, or begin in the middle. So before each watch the server is asked how far it is, and
// after an outage, in which a cluster may be restored, everything is listed.
type source struct {
	list      func(context.Context, metav1.ListOptions) (runtime.Object, error)
	watch     func(context.Context, metav1.ListOptions) (watch.Interface, error)
	streaming bool // the client can send a list as a watch

	began      chan struct{} // closed once the server has begun to answer a first list
	beginning  sync.Once
	asking     func()      // told before each list is asked for
	insist     atomic.Bool // ask for the newest state, whatever version the reflector has
	consistent atomic.Bool // the list that was asked for last is of the newest state
	sure       atomic.Bool // what was seen is of the server's past or present: it was asked since a watch ended
}

// newSource is the source that asks by that access, and strips each object of a list, page by page, so that a big list
// is never whole in memory.
func newSource[O object](client kubernetes.Interface, a access, strip func(O)) *source {
	s := &source{asking: func() {}, began: make(chan struct{}), streaming: !watchlist.DoesClientNotSupportWatchListSemantics(client), watch: a.watch}
	s.list = func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
		list, err := a.list(ctx, o)
		if err != nil {
			return nil, err
		}
		return list, meta.EachListItem(list, func(item runtime.Object) error {
			o, ok := item.(O)
			if !ok {
				return fmt.Errorf("the list holds a %T: %w", item, ErrUnusable)
			}
			strip(o)
			return nil
		})
	}
	return s
}

// ListWithContext implements cache.ListerWithContext.
func (s *source) ListWithContext(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	if o.Continue == "" { // the pages after the first are of the same state
		s.ask(&o)
	}
	list, err := s.list(ctx, o)
	s.answered(err)
	s.begins(err)
	return list, err
}

// begins takes what became of the first request of a list.
func (s *source) begins(err error) {
	if err == nil {
		s.beginning.Do(func() { close(s.began) })
	}
}

// WatchWithContext implements cache.WatcherWithContext.
func (s *source) WatchWithContext(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	s.sure.Store(false)
	if o.SendInitialEvents != nil && *o.SendInitialEvents {
		s.ask(&o)
	} else if err := s.reaches(ctx, o.ResourceVersion); err != nil {
		return nil, err
	}
	w, err := s.watch(ctx, o)
	s.answered(err)
	s.begins(err)
	if err != nil {
		return nil, err
	}
	return endingWatch{w, func() { s.sure.Store(false) }}, nil
}

// errListAgain: the server may have gone back, so everything is listed before it is watched again.
var errListAgain = errors.New("the API server was away or is behind what was seen: list again")

// reaches asks the server whether it has reached a version from which it is to be watched. It takes one object of a
// quorum read.
func (s *source) reaches(ctx context.Context, version string) error {
	if version == "" || version == "0" {
		return nil
	}
	known, err := parseVersion(version)
	if err != nil {
		return err
	}
	page, err := s.list(ctx, metav1.ListOptions{Limit: 1})
	if s.answered(err); err != nil {
		return err
	}
	list, err := meta.ListAccessor(page)
	if err != nil {
		return err
	}
	found, err := parseVersion(list.GetResourceVersion())
	if err != nil {
		return err
	}
	if found < known {
		s.insist.Store(true)
	}
	if s.insist.Load() {
		return errListAgain
	}
	s.sure.Store(true)
	return nil
}

// answered takes what became of a request. When the server was away, the next list is asked for without a version.
func (s *source) answered(err error) {
	var status apierrors.APIStatus
	if err != nil && (!errors.As(err, &status) || status.Status().Code >= http.StatusInternalServerError) {
		s.insist.Store(true)
	}
}

// endingWatch tells when its reader has seen its end.
type endingWatch struct {
	watch.Interface
	ended func()
}

// Stop implements watch.Interface.
func (w endingWatch) Stop() {
	w.ended()
	w.Interface.Stop()
}

func (s *source) ask(o *metav1.ListOptions) {
	if s.insist.Load() || o.ResourceVersion == "0" {
		o.ResourceVersion = ""
	}
	s.consistent.Store(o.ResourceVersion == "")
	s.asking()
}

// judge takes what became of a list: one that was of the past makes the next be asked for without a version.
func (s *source) judge(err error) error {
	switch {
	case errors.Is(err, ErrOlder):
		s.insist.Store(true)
	case err == nil && s.consistent.Load():
		s.insist.Store(false)
	}
	s.sure.Store(err == nil)
	return err
}

// List implements cache.Lister, which reflectors no longer call.
func (s *source) List(o metav1.ListOptions) (runtime.Object, error) {
	return s.ListWithContext(context.Background(), o)
}

// Watch implements cache.Watcher, which reflectors no longer call.
func (s *source) Watch(o metav1.ListOptions) (watch.Interface, error) {
	return s.WatchWithContext(context.Background(), o)
}

// IsWatchListSemanticsUnSupported tells the reflector whether to list by LIST. The name is client-go's.
func (s *source) IsWatchListSemanticsUnSupported() bool { return !s.streaming }

var (
	_ cache.ListerWatcher            = (*source)(nil)
	_ cache.ListerWatcherWithContext = (*source)(nil)
)
