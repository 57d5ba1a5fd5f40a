package page

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/ask"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/turns"
	"github.com/jobledger/jobledger/internal/read/which"
	"github.com/jobledger/jobledger/store"
)

// Config configures the pages. Source is required.
type Config struct {
	// Source returns the log for one request. It adds damage of the log to d as it is read, and calls note with remarks
	// for the user. An error refuses the request; the status is that of its method HTTPStatus, if it has one.
	Source func(r *http.Request, about About, d *store.Damage, note func(string)) (Given, error)
	Where  string // name of the log that each page shows, such as its directory
	Log    string // the log in the commands of a saved file, as a user would type it; empty for DIR
	Base   string // path prefix of all pages, such as /jobledger; empty for the root
	// User returns the name of the user who sent a request: each user has a limit of requests. If nil, all requests
	// share one limit.
	User func(*http.Request) string
	// Turns limits how many requests are answered at the same time. It may be shared with other services, which then
	// share the limit. If nil, the handler makes its own.
	Turns *turns.Turns
	// Within is the longest duration of a request; 0 means 10 s.
	Within time.Duration
	Clock  func() time.Time // the time for display; nil for time.Now
	Ends   <-chan struct{}  // closed when the open streams of events must end; nil for never
}

// About says what a request asks for: Config.Source checks with it whether the user may read that.
type About struct {
	Namespace string          // namespace of the object, or the value of ?n=; empty for all
	Record    events.Sequence // on the page of a record: its sequence; 0 on other pages
}

// Given is the result of Config.Source: the log for one request.
type Given struct {
	ask.Source
	Only string // the only namespace that Source shows; empty if it shows all
	Done func() // called after the request is answered; may be nil
}

// Bounds of a request: its duration, and the size of its answer.
const (
	askingFor  = 10 * time.Second
	mostAnswer = 4 << 20 // largest size of an answer, in bytes
)

// site is the handler of all pages.
type site struct {
	Config
	streams *turns.Turns // limits how many streams of events are open
}

// reply is the response to a request.
type reply struct {
	status int    // 0 for 200
	kind   string // content type; empty for HTML
	body   []byte
	file   string // name under which a browser saves the reply as a file; empty to display it
}

// screen answers a request with one kind of page, such as that of a Job.
type screen func(ctx context.Context, v *view) (*reply, error)

// New returns a handler for all pages. It answers GET requests only.
func New(config Config) http.Handler {
	if config.Within <= 0 {
		config.Within = askingFor
	}
	if config.Turns == nil {
		config.Turns = turns.New(turns.Config{})
	}
	if config.Clock == nil {
		config.Clock = time.Now
	}
	s := &site{config, turns.New(turns.Config{All: mostLive, Each: liveEach, Wait: time.Millisecond})}
	mux := http.NewServeMux()
	for pattern, of := range map[string]struct {
		show screen
		live watched
	}{
		"/{$}": {now, watchesAll}, "/job/{namespace}/{name}": {job, watchesJob}, "/pod/{namespace}/{name}": {pod, watchesPod},
		"/cronjob/{namespace}/{name}": {cronJob, watchesCronJob}, "/record/{record}": {record, still}, "/find": {find, still},
	} {
		mux.Handle("GET "+config.Base+pattern, s.answer(of.show, of.live))
	}
	mux.Handle("GET "+config.Base+"/"+sheet.name(), sheet)
	mux.Handle("GET "+config.Base+"/"+script.name(), script)
	mux.Handle("GET "+config.Base+"/", s.answer(func(context.Context, *view) (*reply, error) {
		return nil, which.Unknown("there is no such page")
	}, still))
	return guarded(mux)
}

// policy is the Content-Security-Policy of a page: its own style and script, requests to its own origin, no frames
// around it.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

func guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		guard(w.Header())
		next.ServeHTTP(w, r)
	})
}

func guard(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
}

// answer returns the handler for one kind of page. With ?o=live it sends the events of the page. Otherwise it sends the
// page, within the limits on time, size and number of requests.
func (s *site) answer(show screen, of watched) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("o") == formLive {
			s.live(w, r, of)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), s.Within)
		defer cancel()
		v := newView(s, r)
		user := ""
		if s.User != nil {
			user = s.User(r)
		}
		done, err := s.Turns.Take(ctx, user)
		if err != nil {
			w.Header().Set("Retry-After", "2")
			send(w, r, v.failed(http.StatusServiceUnavailable, err))
			return
		}
		defer done()
		out := v.answer(ctx, show)
		for _, note := range v.Notes {
			w.Header().Add("Jobledger-Note", strconv.QuoteToASCII(note))
		}
		switch out.status {
		case http.StatusServiceUnavailable:
			w.Header().Set("Retry-After", "2")
		case 0:
			w.Header().Set("Jobledger-As-Of", fmt.Sprintf("%d %s", v.AsOf.Sequence, v.zone.Stamp(v.head.Time)))
		}
		send(w, r, out)
	})
}

// answer makes the page with show, and returns the reply. If show fails, it returns a page with the error.
func (v *view) answer(ctx context.Context, show screen) *reply {
	v.request = v.request.WithContext(ctx)
	given, err := v.site.Source(v.request, v.about(), v.damage, v.note)
	if err != nil {
		status := statusOf(err)
		v.Ask, v.Query = status == http.StatusForbidden && v.about() == About{}, v.values.Get("q")
		return v.failed(status, err)
	}
	if given.Done != nil {
		defer given.Done()
	}
	v.src, v.Only, v.limits = given.Source, given.Only, slices.Clone(v.Notes)
	v.begin(ctx)
	out, err := show(ctx, v) // if err comes with a reply, it is damage of the log, which the page shows
	switch {
	case out == nil && errors.Is(err, context.DeadlineExceeded):
		return v.failed(http.StatusGatewayTimeout,
			fmt.Errorf("it was not answered within %s: ask for less of it", v.site.Within))
	case out == nil:
		return v.failed(statusOf(err), err)
	case len(out.body) > mostAnswer:
		return v.failed(http.StatusUnprocessableEntity,
			fmt.Errorf("the answer has %d bytes, more than %d: ask for less of it", len(out.body), mostAnswer))
	}
	return out
}

// statusOf returns the HTTP status for an error, such as 404 for an object that the log does not know.
func statusOf(err error) int {
	var wrong *which.WrongError
	var unknown *which.UnknownError
	var refused interface{ HTTPStatus() int }
	switch {
	case errors.As(err, &refused):
		return refused.HTTPStatus()
	case errors.As(err, &wrong), errors.Is(err, history.ErrQuery):
		return http.StatusBadRequest
	case errors.As(err, &unknown), errors.Is(err, history.ErrNoRecord), errors.Is(err, history.ErrNoJob), errors.Is(err, history.ErrNoCronJob):
		return http.StatusNotFound
	case errors.Is(err, store.ErrPruned):
		return http.StatusGone
	}
	return http.StatusInternalServerError
}

// send writes a response. If the browser has the same document already, it sends 304 Not Modified. The ETag is weak
// because it is the same for the compressed and the plain document.
func send(w http.ResponseWriter, r *http.Request, out *reply) {
	h := w.Header()
	if out.kind == "" {
		out.kind = "text/html; charset=utf-8"
	}
	h.Set("Content-Type", out.kind)
	h.Set("Cache-Control", "no-cache")
	if out.file != "" {
		h.Set("Content-Disposition", `attachment; filename="`+out.file+`"`)
	}
	body := packed(h, r, out.body)
	if out.status != 0 {
		w.WriteHeader(out.status)
		_, _ = w.Write(body) // if this fails, the client has closed the connection
		return
	}
	sum := sha256.Sum256(out.body)
	h.Set("ETag", `W/"`+hex.EncodeToString(sum[:12])+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}
