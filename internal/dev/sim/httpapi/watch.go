package httpapi

import (
	"encoding/json"
	"net/http"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
	"github.com/jobledger/jobledger/internal/dev/sim/world"
)

// watch sends the events of a watch until the client or the server ends it, or the world is restored from a backup.
func (s *Server) watch(w http.ResponseWriter, r *http.Request, p path) (err error) {
	var cursor *apiserver.Cursor
	var first []apiserver.Event
	s.Do(func(world *world.World) {
		query := r.URL.Query()
		var from uint64
		if query.Get("sendInitialEvents") == "true" {
			all := world.Server.List(p.kind)
			from = all.Version
			for _, o := range all.Items {
				first = append(first, apiserver.Event{Type: watch.Added, Object: o})
			}
			first = append(first, apiserver.Event{Type: watch.Bookmark, Object: bookmark(p.kind, from)})
		} else if from, err = strconv.ParseUint(query.Get("resourceVersion"), 10, 64); err != nil {
			err = apierrors.NewBadRequest(err.Error())
			return
		}
		cursor, err = world.Server.Watch(p.kind, from)
	})
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json;stream=watch")
	w.WriteHeader(http.StatusOK)
	out, flusher := json.NewEncoder(w), w.(http.Flusher)
	for events, ended := first, false; ; {
		for _, e := range events {
			if object, _ := typed(e.Object, nil); p.in(e.Object) || e.Type == watch.Bookmark {
				if out.Encode(map[string]any{"type": e.Type, "object": object}) != nil {
					return nil // the client has ended the watch, or the connection is lost
				}
			}
		}
		flusher.Flush()
		if ended {
			return nil
		}
		var changed chan struct{}
		s.mu.Lock()
		if events, ended = unread(cursor); len(events) == 0 {
			changed = s.changed
		}
		s.mu.Unlock()
		if changed == nil {
			continue
		}
		select {
		case <-changed:
		case <-r.Context().Done():
			return nil
		case <-s.stop:
			return nil
		}
	}
}

// unread returns the events that the watch has not sent yet. ended is true if the watch cannot continue, because the
// server has dropped events (compaction) that it has not read.
func unread(c *apiserver.Cursor) (all []apiserver.Event, ended bool) {
	for {
		e, ok, err := c.Next()
		if err != nil {
			return all, true
		}
		if !ok {
			return all, false
		}
		all = append(all, e)
	}
}

// bookmark returns the event that tells a client that it has got all initial objects of a watch.
func bookmark(k apiserver.Kind, version uint64) apiserver.Object {
	empty, err := scheme.Scheme.New(kinds[k])
	if err != nil {
		panic(err) // each entry of kinds is in the scheme
	}
	o := empty.(apiserver.Object)
	o.SetResourceVersion(strconv.FormatUint(version, 10))
	o.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
	return o
}
