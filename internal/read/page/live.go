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

// formLive is the value of ?o= for the stream of server-sent events, which tells an open page how many changes there
// are since it was loaded, but never what changed.
const (
	formLive = "live"
	// lookEach is the time between two events. A page without an event for 4 s says that the server does not answer. It
	// checks each second, so the user reads this at most 5 s after the last event.
	lookEach    = time.Second
	lookWithin  = 2 * time.Second
	silentAfter = 4 * time.Second
	// liveFor is the longest duration of a stream of events. The browser then connects again. The user's rights are
	// checked for each event, not only for each stream.
	liveFor     = 10 * time.Minute
	sentWithin  = 5 * time.Second
	mostLive    = 128 // streams that may be open at the same time, of all users
	liveEach    = 12  // streams that may be open at the same time, of one user
	mostChanges = 100 // largest number of changes in an event; for more it says "more than 100 changes"
	mostLooked  = 2000
)

// event is one server-sent event of a page, encoded as JSON.
type event struct {
	Clock   string   `json:"clock"`             // time by the server's clock, in the time zone of the page
	Changes string   `json:"changes,omitempty"` // number of changes for display, such as "3 changes"; empty for none
	Notes   []string `json:"notes,omitempty"`   // remarks about the whole log, such as that it cannot be read
	Off     string   `json:"off,omitempty"`     // why the server will send no more events; empty otherwise
}

// watched says which records count as changes for an open page. Pages of a past point or of a record have the value
// still: nothing can change there, so their events have only the clock.
type watched string

const (
	still          watched = ""
	watchesAll     watched = "all"
	watchesJob     watched = "job"
	watchesPod     watched = "pod"
	watchesCronJob watched = "cronjob"
)

// changes counts the records that were written after a page was loaded.
type changes struct {
	of      watched
	through events.Sequence
	records int                    // number of new records of the object that the page shows
	objects map[events.Stream]bool // for the first page: the Jobs and CronJobs with new records

	head events.Sequence // newest record of the log, as it was last read
	at   time.Time       // when head was read
}

// live answers ?o=live&from=RECORD with the stream of server-sent events of a page: how many changes there are after
// the record.
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

// stream writes server-sent events to one browser.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

// send writes one event. It returns false if the client does not take it, usually because the page was closed.
func (s *stream) send(e *event) bool {
	text, err := json.Marshal(e)
	if err != nil {
		return false // cannot happen: an event has only texts
	}
	until := time.Now().Add(sentWithin)
	// If one of the next two calls fails, w has no deadlines: then the server's own limits apply.
	_ = s.control.SetWriteDeadline(until)
	_ = s.control.SetReadDeadline(until.Add(liveFor)) // otherwise the server's read deadline would end the stream
	if _, err := fmt.Fprintf(s.w, "retry: 1000\ndata: %s\n\n", text); err != nil {
		return false
	}
	return s.control.Flush() == nil
}

// look counts the changes since a page was loaded, and returns the event for the page. Like any request it must wait
// for one of the limited turns (package turns). If it gets none in 2 s, the event has only the clock.
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

// take reads the end of the log, and counts the changes (new records) since the last call.
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

// all counts new records of all objects: for the first page each Job and CronJob once, for the page of a pod each
// record.
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

// one counts the new records of the Job or CronJob that the page shows. If the address has no UID, records of a newer
// object with the same name count, too.
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

// lost returns the text for a page whose log cannot be read: since when, and which is the newest known record. If the
// server refuses the user, it returns the text of that error.
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

// says returns the number of changes for display: "", "3 changes", "more than 100 changes".
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

// Live returns the address of the page's stream of events. It is empty for a saved file and for an error page, which
// have none.
func (v *view) Live() string {
	if v.File || v.Error != "" || v.AsOf.Sequence == 0 {
		return ""
	}
	values := v.request.URL.Query()
	values.Set("o", formLive)
	values.Set("from", fmt.Sprint(v.AsOf.Sequence))
	return v.request.URL.EscapedPath() + "?" + values.Encode()
}

// Silent returns, for the script of the page, after how many milliseconds without an event the server counts as silent.
func (*view) Silent() int64 { return silentAfter.Milliseconds() }
