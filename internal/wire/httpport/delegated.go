package httpport

import (
	"context"
	"crypto/sha256"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// Delegated lets the API server decide who may read a URL path of this port. A request must have a Kubernetes token
// (checked with a TokenReview). Its user must have the right to "get" the path as a non-resource URL (checked with a
// SubjectAccessReview). Components of Kubernetes admit Prometheus to their metrics in the same way.
type Delegated struct {
	Client kubernetes.Interface
	Logger *slog.Logger

	vain    seldom
	mu      sync.Mutex
	answers map[question]answer
	// A semaphore: how many requests to the API server may run at the same time; made with the first request
	asking chan struct{}
	pace   *rate.Limiter // limits the requests per second, of all tokens together; made with the first one
}

// question is the key of a cached answer: a token, as a hash, and a path.
type question struct {
	token [sha256.Size]byte
	path  string
}

type answer struct {
	status int // http.StatusOK, StatusUnauthorized or StatusForbidden
	until  time.Time
}

const (
	believedFor = 10 * time.Second // how long an answer is cached; a revoked right may be used for so much longer
	mostAnswers = 1000
	mostAsking  = 4
	asksEach    = 100 // requests per second to the API server, at most
	askedWithin = 5 * time.Second
)

// Guard returns a handler that calls next only for requests whose user may read the path of the request.
func (d *Delegated) Guard(next http.Handler) http.Handler {
	return d.guard(next, func(r *http.Request) string { return r.URL.Path })
}

// GuardAs returns a handler that calls next only for requests whose user may read the given path, whatever path they
// have.
func (d *Delegated) GuardAs(path string, next http.Handler) http.Handler {
	return d.guard(next, func(*http.Request) string { return path })
}

func (d *Delegated) guard(next http.Handler, pathOf func(*http.Request) string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := pathOf(r)
		scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		token = strings.TrimLeft(token, " ")
		status := http.StatusUnauthorized
		if strings.EqualFold(scheme, "Bearer") && token != "" { // schemes are case-insensitive (RFC 9110, 11.1)
			status = d.judge(r.Context(), token, path)
		}
		switch status {
		case http.StatusOK:
			next.ServeHTTP(w, r)
		case http.StatusUnauthorized:
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "a token of Kubernetes is wanted: Authorization: Bearer TOKEN", status)
		case http.StatusForbidden:
			http.Error(w, "this user may not get "+path+": a ClusterRole with nonResourceURLs gives that right", status)
		default:
			http.Error(w, "the API server could not be asked whether that is allowed", status)
		}
	})
}

// judge returns the HTTP status for a request with a token: 200 if its user may read the path. It asks the API server,
// unless the answer is cached.
func (d *Delegated) judge(ctx context.Context, token, path string) int {
	q := question{sha256.Sum256([]byte(token)), path}
	d.mu.Lock()
	if d.asking == nil {
		d.asking, d.answers = make(chan struct{}, mostAsking), map[question]answer{}
		d.pace = rate.NewLimiter(asksEach, asksEach)
	}
	known := d.answers[q]
	d.mu.Unlock()
	if time.Now().Before(known.until) {
		return known.status
	}
	ctx, cancel := context.WithTimeout(ctx, askedWithin)
	defer cancel()
	select {
	case d.asking <- struct{}{}:
		defer func() { <-d.asking }()
	case <-ctx.Done():
		return http.StatusServiceUnavailable
	}
	if d.pace.Wait(ctx) != nil {
		return http.StatusServiceUnavailable
	}
	status, err := d.ask(ctx, token, path)
	if err != nil {
		// No warning if the client has gone (Canceled): the API server is not to blame.
		if !errors.Is(err, context.Canceled) {
			d.vain.say(d.Logger, "the API server was asked in vain whether a scraper may read", "path", path, "error", err)
		}
		return http.StatusServiceUnavailable
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.answers) >= mostAnswers {
		clear(d.answers)
	}
	d.answers[q] = answer{status, time.Now().Add(believedFor)}
	return status
}

func (d *Delegated) ask(ctx context.Context, token, path string) (status int, err error) {
	review, err := d.Client.AuthenticationV1().TokenReviews().Create(ctx,
		&authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}, metav1.CreateOptions{})
	if err != nil {
		return 0, err
	}
	if !review.Status.Authenticated {
		return http.StatusUnauthorized, nil
	}
	user := review.Status.User
	extra := map[string]authorizationv1.ExtraValue{}
	for k, v := range user.Extra {
		extra[k] = authorizationv1.ExtraValue(v)
	}
	access, err := d.Client.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{
		Spec: authorizationv1.SubjectAccessReviewSpec{
			User: user.Username, UID: user.UID, Groups: user.Groups, Extra: extra,
			NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: path, Verb: "get"},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return 0, err
	}
	if !access.Status.Allowed {
		return http.StatusForbidden, nil
	}
	return http.StatusOK, nil
}
