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

// Config says what the pages show. Source is required.
type Config struct {
	// Source gives what a request is answered from. What is met of damage is noted; note takes what the user should know.
	// An error refuses the request, with the status that its method HTTPStatus gives, if it has one.
	Source func(r *http.Request, about About, d *store.Damage, note func(string)) (Given, error)
	Where  string // what the log is called in the head of each page, such as the name of its directory
	Log    string // how a command line names the log, for a file that says how it is checked; empty for DIR
	Base   string // the path below which the pages are, such as /jobledger; empty for the root
	// User says who asks, for the bound on requests of one user; nil for one user.
	User func(*http.Request) string
	// Turns bound how many requests are answered at a time, with those of other services that take turns of the same; nil
	// for turns of its own.
	Turns *turns.Turns
	// Within is how long a request may take; 0 for 10 s.
	Within time.Duration
}

// About is what a request is about.
type About struct {
	Namespace string          // of the object, or the one that is asked for (?n=); empty for all
	Record    events.Sequence // whose page it is; 0 for that of no record
}

// Given is what a request is answered from.
type Given struct {
	ask.Source
	Only string // the namespace of which alone it tells; empty for all
	Done func() // called when the answer is made; nil for nothing
}

// The bounds of a request.
const (
	askingFor  = 10 * time.Second
	mostAnswer = 4 << 20 // bytes
)

// site answers the requests.
type site struct{ Config }

// reply is what a request is answered with.
type reply struct {
	status int    // 0 for 200
	kind   string // its content type; empty for HTML
	body   []byte
	file   string // the name under which a browser saves it; empty for what it shows
}

// screen answers the requests of one address.
type screen func(ctx context.Context, v *view) (*reply, error)

// New is a handler of all pages. It answers GET alone.
func New(config Config) http.Handler {
	if config.Within <= 0 {
		config.Within = askingFor
	}
	if config.Turns == nil {
		config.Turns = turns.New(turns.Config{})
	}
	s := &site{config}
	mux := http.NewServeMux()
	for pattern, show := range map[string]screen{
		"/{$}": now, "/job/{namespace}/{name}": job, "/pod/{namespace}/{name}": pod, "/cronjob/{namespace}/{name}": cronJob,
		"/record/{record}": record, "/find": find,
	} {
		mux.Handle("GET "+config.Base+pattern, s.answer(show))
	}
	mux.Handle("GET "+config.Base+"/"+sheet.name(), sheet)
	mux.Handle("GET "+config.Base+"/"+script.name(), script)
	mux.Handle("GET "+config.Base+"/", s.answer(func(context.Context, *view) (*reply, error) {
		return nil, which.Unknown("there is no such page")
	}))
	return guarded(mux)
}

// policy lets a page load its own style and script, and ask its own origin; nothing else. No page stands in a frame.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

func guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		next.ServeHTTP(w, r)
	})
}

// answer answers with a screen, within the bounds.
func (s *site) answer(show screen) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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

// answer is the screen, or the page that says why there is none.
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
	out, err := show(ctx, v) // beside an answer, what is damaged is noted
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

// statusOf is the status of a request that failed.
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

// send writes an answer, or says that the reader has it already.
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
	if out.status != 0 {
		w.WriteHeader(out.status)
		_, _ = w.Write(out.body) // who asked may be gone
		return
	}
	sum := sha256.Sum256(out.body)
	h.Set("ETag", `"`+hex.EncodeToString(sum[:12])+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(out.body))
}
