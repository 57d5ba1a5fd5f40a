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

	"github.com/jobledger/jobledger/events/observation"
	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

// source lists and watches one resource for a reflector. It never accepts a list of arbitrary age: client-go requests a
// first list with resourceVersion 0, which a lagging server answers from the past, so source removes that version. A
// reflector that has a version requests a state not older than that version, or the newest state if insist is set.
//
// A cluster restored from a backup has not reached that version yet, or reaches it with other contents. A watch from it
// would stay silent, or begin in the middle. So before each watch, source asks the server for its current version.
// After an outage, during which a cluster may be restored, it lists everything.
type source struct {
	list      func(context.Context, metav1.ListOptions) (runtime.Object, error)
	watch     func(context.Context, metav1.ListOptions) (watch.Interface, error)
	streaming bool // the client can receive a list as a watch

	began      chan struct{} // closed once the server has begun to answer a first list
	beginning  sync.Once
	asking     func()      // called before each request of a list
	insist     atomic.Bool // request the newest state, whatever version the reflector has
	consistent atomic.Bool // the last requested list is of the newest state
	// True after the server was asked for its version since the last watch ended: what was seen then is certainly from
	// the cluster's past or present
	sure atomic.Bool
}

// newSource returns a source with this access. It strips each page of a list when it arrives, so that a large list is
// never in memory as whole objects.
func newSource[O kubewire.Object](client kubernetes.Interface, a access, strip func(O)) *source {
	s := &source{asking: func() {}, began: make(chan struct{}), streaming: !watchlist.DoesClientNotSupportWatchListSemantics(client), watch: a.watch}
	s.list = func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
		list, err := a.list(ctx, o)
		if err != nil {
			return nil, err
		}
		return list, meta.EachListItem(list, func(item runtime.Object) error {
			o, ok := item.(O)
			if !ok {
				return fmt.Errorf("the list holds a %T: %w", item, observation.ErrUnusable)
			}
			strip(o)
			return nil
		})
	}
	return s
}

// ListWithContext implements cache.ListerWithContext.
func (s *source) ListWithContext(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	if o.Continue == "" { // ask only for the first page: later pages are of the same state
		s.ask(&o)
	}
	list, err := s.list(ctx, o)
	s.answered(err)
	s.begins(err)
	return list, err
}

// begins closes s.began once the server has answered the first request of a list without an error.
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

// errListAgain ends a watch before it begins: the server may have gone back in time, so everything must be listed
// first.
var errListAgain = errors.New("the API server was away or is behind what was seen: list again")

// reaches returns an error unless the server has reached the version. It reads one object with a quorum read.
func (s *source) reaches(ctx context.Context, version string) error {
	if version == "" || version == "0" {
		return nil
	}
	known, err := observation.ParseVersion(version)
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
	found, err := observation.ParseVersion(list.GetResourceVersion())
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

// answered notes the result of a request. If there was no answer, or a server error (5xx), the server may have been
// restored meanwhile: the next list is requested without a version, so that it is of the newest state.
func (s *source) answered(err error) {
	var status apierrors.APIStatus
	if err != nil && (!errors.As(err, &status) || status.Status().Code >= http.StatusInternalServerError) {
		s.insist.Store(true)
	}
}

// endingWatch is a watch that calls ended when its reader stops it.
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

// judge notes whether a list was taken, and returns err. After an ErrOlder (the list is older than what was seen), the
// next list is requested without a version, so that it is of the newest state.
func (s *source) judge(err error) error {
	switch {
	case errors.Is(err, observation.ErrOlder):
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

// IsWatchListSemanticsUnSupported tells the reflector whether to use LIST instead of a watch. client-go chose the name.
func (s *source) IsWatchListSemanticsUnSupported() bool { return !s.streaming }

var (
	_ cache.ListerWatcher            = (*source)(nil)
	_ cache.ListerWatcherWithContext = (*source)(nil)
)
