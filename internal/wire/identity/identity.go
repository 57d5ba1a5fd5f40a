package identity

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// Config has the settings of an Identity. Client is required.
type Config struct {
	Client kubernetes.Interface
	Logger *slog.Logger // nil for slog.Default
}

// Identity finds out which user sent an HTTP request, and what this user may read. It asks the API server, and caches
// the answers for 10 s. Make it with New.
type Identity struct {
	client kubernetes.Interface
	logger *slog.Logger
	asking chan struct{} // a semaphore: how many requests to the API server may run at the same time
	pace   *rate.Limiter // limits the requests per second, of all users together

	mu      sync.Mutex
	clients *x509.CertPool // CA of client certificates; nil until Run has read it
	users   map[[sha256.Size]byte]believed[User]
	rights  map[asked]believed[bool]
}

// believed is a cached answer, and the time until which it is used.
type believed[T any] struct {
	answer T
	until  time.Time
}

const (
	believedFor = 10 * time.Second
	mostAnswers = 1000 // largest size of each cache
	mostAsking  = 4
	asksEach    = 100 // requests per second to the API server, at most
	askedWithin = 5 * time.Second
)

// New returns an Identity. It accepts no client certificates until Run has read their CA.
func New(c Config) *Identity {
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	return &Identity{
		client: c.Client, logger: c.Logger,
		asking: make(chan struct{}, mostAsking), pace: rate.NewLimiter(asksEach, asksEach),
		users: map[[sha256.Size]byte]believed[User]{}, rights: map[asked]believed[bool]{},
	}
}

// User is a user whom the API server knows. The zero User is nobody.
type User struct {
	Name   string
	UID    string
	Groups []string
	Extra  map[string][]string

	key string // hash of all other fields, because users with the same name may still differ
}

// Key returns a text that identifies the user, for counting requests. Users with the same name and different groups
// have different keys.
func (u User) Key() string { return u.key }

// keyed returns the user with its key, the hash of all other fields.
func (u User) keyed() User {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q", u.Name, u.UID, u.Groups, u.Extra))
	u.key = hex.EncodeToString(sum[:])
	return u
}

// User returns the user who sent a request, by its bearer token, or without a token by its client certificate. Errors
// are *RefusedError.
func (i *Identity) User(r *http.Request) (User, error) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	token = strings.TrimLeft(token, " ")
	switch {
	case strings.EqualFold(scheme, "Bearer") && token != "": // schemes are case-insensitive (RFC 9110, 11.1)
		return i.bearer(r.Context(), token)
	case scheme == "" && r.TLS != nil && len(r.TLS.PeerCertificates) > 0:
		return i.certified(r.TLS.PeerCertificates)
	}
	return User{}, nobody(
		"a token of Kubernetes is wanted (Authorization: Bearer TOKEN), or a client certificate of the cluster",
	)
}

func (i *Identity) bearer(ctx context.Context, token string) (User, error) {
	digest := sha256.Sum256([]byte(token))
	i.mu.Lock()
	known := i.users[digest]
	i.mu.Unlock()
	if !time.Now().Before(known.until) {
		var err error
		known.answer, err = ask(ctx, i, "who asks", func(ctx context.Context) (User, error) { return i.review(ctx, token) })
		if err != nil {
			return User{}, err
		}
		i.mu.Lock()
		if len(i.users) >= mostAnswers {
			clear(i.users)
		}
		i.users[digest] = believed[User]{known.answer, time.Now().Add(believedFor)}
		i.mu.Unlock()
	}
	if known.answer.Name == "" {
		return User{}, nobody("the API server does not know this token: it is expired, revoked or of another cluster")
	}
	return known.answer, nil
}

// review asks the API server for the user of a token; it returns the zero User if the token is not valid.
func (i *Identity) review(ctx context.Context, token string) (User, error) {
	review, err := i.client.AuthenticationV1().TokenReviews().Create(ctx,
		&authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}, metav1.CreateOptions{})
	if err != nil || !review.Status.Authenticated {
		return User{}, err
	}
	info := review.Status.User
	u := User{Name: info.Username, UID: info.UID, Groups: info.Groups, Extra: map[string][]string{}}
	for k, v := range info.Extra {
		u.Extra[k] = v
	}
	return u.keyed(), nil
}

// ask calls question, which sends a request to the API server. It waits until few enough requests run at the same
// time and the rate limit allows one more. If that, or the answer, takes too long, or the request fails, it returns a
// *RefusedError. what names the request in the log.
func ask[T any](
	ctx context.Context, i *Identity, what string, question func(context.Context) (T, error),
) (answer T, err error) {
	ctx, cancel := context.WithTimeout(ctx, askedWithin)
	defer cancel()
	select {
	case i.asking <- struct{}{}:
		defer func() { <-i.asking }()
	case <-ctx.Done():
		return answer, away()
	}
	if i.pace.Wait(ctx) != nil {
		return answer, away()
	}
	if answer, err = question(ctx); err != nil {
		i.logger.Warn("the API server was asked in vain", "about", what, "error", err)
		return answer, away()
	}
	return answer, nil
}
