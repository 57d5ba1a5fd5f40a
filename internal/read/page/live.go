package page

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/store"
)

// The form "live" of a page is a stream of server-sent events. The events say that there is more, and never what.
const (
	formLive = "live"
	// lookEach is the time between two events. A page is silent after silentAfter, so that it says within 5 s that it
	// gets no answer.
	lookEach    = time.Second
	lookWithin  = 2 * time.Second
	silentAfter = 4 * time.Second
	// liveFor ends a stream, so that the browser connects anew. Rights are checked for each event, anyway.
	liveFor     = 10 * time.Minute
	sentWithin  = 5 * time.Second
	mostLive    = 128 // open streams
	liveEach    = 12  // of one user
	mostChanges = 100 // changes that are counted
	mostLooked  = 2000
)

// event is the data of one event.
type event struct {
	Clock   string   `json:"clock"`             // of the server, in the zone of the page
	Changes string   `json:"changes,omitempty"` // "3 changes", for display; empty for none
	Notes   []string `json:"notes,omitempty"`   // what the answers of now say of the log as a whole
	Off     string   `json:"off,omitempty"`     // why no more events come
}

// watched is what the events of a page count. Pages of past points and of records are still: their events have only the
// clock.
type watched string

const (
	still          watched = ""
	watchesAll     watched = "all"
	watchesJob     watched = "job"
	watchesPod     watched = "pod"
	watchesCronJob watched = "cronjob"
)

// changes counts what is newer than a page.
type changes struct {
	of      watched
	through events.Sequence
	records int                    // of the page's object
	objects map[events.Stream]bool // on the first page: those with new records

	head events.Sequence // the newest record that is known
	at   time.Time       // when it was read
}

// live answers with the events of a page.
func (s *site) live(w http.ResponseWriter, r *http.Request, of watched) {
	values := r.URL.Query()
	from, err := strconv.ParseUint(values.Get("from"), 10, 64)
	if err != nil {
		http.Error(w, "o=live: say behind which record, with from=RECORD", http.StatusBadRequest)
		return
	}
	if values.Get("at") != "" || values.Get("until") != "" {
		of = still
	}
	user := ""
	if s.User != nil {
		user = s.User(r)
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	out := stream{w, http.NewResponseController(w)}
	done, err := s.streams.Take(r.Context(), user)
	if err != nil {
		out.send(&event{Off: "too many pages are open: this one does not update by itself"})
		return
	}
	defer done()
	ctx, cancel := context.WithTimeout(r.Context(), liveFor)
	defer cancel()
	seen := changes{
		of: of, through: events.Sequence(from), objects: map[events.Stream]bool{}, head: events.Sequence(from), at: s.Clock(),
	}
	tick := time.NewTicker(lookEach)
	defer tick.Stop()
	for out.send(s.look(ctx, r, user, &seen)) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		case <-s.Ends:
			return
		}
	}
}

// stream writes events.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

// send writes an event, and reports whether the client is still there.
func (s *stream) send(e *event) bool {
	text, err := json.Marshal(e)
	if err != nil {
		return false // cannot happen: it has only texts
	}
	until := time.Now().Add(sentWithin)
	_ = s.control.SetWriteDeadline(until)             // where it is not supported, the server's bounds hold
	_ = s.control.SetReadDeadline(until.Add(liveFor)) // it would end the request, which has been read
	if _, err := fmt.Fprintf(s.w, "retry: 1000\ndata: %s\n\n", text); err != nil {
		return false
	}
	return s.control.Flush() == nil
}

// look counts what is new. It takes a turn like any request; if none is free, the event has only the clock.
func (s *site) look(ctx context.Context, r *http.Request, user string, seen *changes) *event {
	v := newView(s, r)
	v.readZone()
	ctx, cancel := context.WithTimeout(ctx, lookWithin)
	defer cancel()
	if done, err := s.Turns.Take(ctx, user); err == nil {
		defer done()
		v.request = v.request.WithContext(ctx)
		given, err := s.Source(v.request, v.about(), v.damage, v.note)
		if err == nil {
			if given.Done != nil {
				defer given.Done()
			}
			v.src = given.Source
			err = seen.take(ctx, v)
		}
		if err != nil {
			v.Notes = append(v.Notes, words.Clean(seen.lost(err, v.zone)))
		}
	}
	return &event{Clock: v.zone.Second(events.At(s.Clock())), Changes: seen.says(), Notes: v.Notes}
}

// take reads what is new.
func (c *changes) take(ctx context.Context, v *view) error {
	_, head, err := v.src.Head(ctx)
	if err != nil {
		return err
	}
	c.head, c.at = head.Sequence, v.site.Clock()
	if head.Sequence <= c.through || c.count() > mostChanges {
		return nil
	}
	switch c.of {
	case still:
		return nil
	case watchesJob, watchesCronJob:
		return c.one(ctx, v, head.Sequence)
	default:
		return c.all(ctx, v, head.Sequence)
	}
}

// all counts the Jobs and CronJobs with new records, or the new records of the page's pod.
func (c *changes) all(ctx context.Context, v *view, head events.Sequence) error {
	q := history.Query{From: c.through + 1, Through: min(head, c.through+mostLooked), Namespace: v.about().Namespace}
	for r, err := range v.src.Records(ctx, q) {
		switch {
		case err != nil && !v.src.Beside(err):
			return err
		case err != nil:
		case c.of == watchesPod:
			if r.Evidence.Name == v.request.PathValue("name") {
				c.records++
			}
		case r.Stream.Kind == events.StreamJob || r.Stream.Kind == events.StreamCronJob:
			c.objects[r.Stream] = true
		}
	}
	c.through = q.Through
	return nil
}

// one counts the new records of the page's object. Without a UID in the address these are also those of a newer object
// with its name.
func (c *changes) one(ctx context.Context, v *view, head events.Sequence) (err error) {
	kind := map[watched]events.StreamKind{watchesJob: events.StreamJob, watchesCronJob: events.StreamCronJob}[c.of]
	streams := []events.Stream{{Kind: kind, ID: v.values.Get("uid")}}
	if v.values.Get("uid") == "" {
		streams, err = v.src.Find(ctx, v.request.PathValue("namespace"), v.request.PathValue("name"))
		if err != nil && !v.src.Beside(err) {
			return err
		}
	}
	for _, stream := range streams {
		if stream.Kind != kind {
			continue
		}
		for r, err := range v.src.ReadStream(ctx, stream, c.through+1, store.Forward) {
			switch {
			case err != nil && !v.src.Beside(err):
				return err
			case err == nil && r.Sequence <= head:
				c.records++
			}
			if c.count() > mostChanges {
				return nil
			}
		}
	}
	c.through = head
	return nil
}

// lost says that the log cannot be read: in the words of a refusal, and else since when, and up to which record.
func (c *changes) lost(err error, zone words.Zone) string {
	if errors.As(err, new(interface{ HTTPStatus() int })) {
		return err.Error()
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("no answer within %s", lookWithin)
	}
	return fmt.Sprintf("the log could not be read since %s; the newest record that is known is %d (%v)",
		zone.Second(events.At(c.at)), c.head, err)
}

func (c *changes) count() int { return c.records + len(c.objects) }

// says returns the number of changes for display.
func (c *changes) says() string {
	switch n := c.count(); {
	case n == 0:
		return ""
	case n > mostChanges:
		return fmt.Sprintf("more than %d changes", mostChanges)
	default:
		return words.Count(n, "change")
	}
}

// Live returns the address of the page's events; empty for a file, and for a page with an error.
func (v *view) Live() string {
	if v.File || v.Error != "" || v.AsOf.Sequence == 0 {
		return ""
	}
	values := v.request.URL.Query()
	values.Set("o", formLive)
	values.Set("from", fmt.Sprint(v.AsOf.Sequence))
	return v.request.URL.EscapedPath() + "?" + values.Encode()
}

// Silent returns after how many milliseconds without an event a page says that it gets no answer.
func (*view) Silent() int64 { return silentAfter.Milliseconds() }
