package httpport

import (
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// TestTheServerIsAskedWhoMayRead: who is nobody, who may not, who may; an answer holds for a while; without an answer,
// nobody gets in.
func TestTheServerIsAskedWhoMayRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset()
		reviews, away := 0, false
		client.PrependReactor("create", "tokenreviews", func(a clienttesting.Action) (bool, runtime.Object, error) {
			if away {
				return true, nil, errors.New("away")
			}
			reviews++
			r := a.(clienttesting.CreateAction).GetObject().(*authenticationv1.TokenReview)
			if r.Spec.Token != "nobody" {
				r.Status = authenticationv1.TokenReviewStatus{Authenticated: true, User: authenticationv1.UserInfo{
					Username: r.Spec.Token, Groups: []string{"g"}, Extra: map[string]authenticationv1.ExtraValue{"k": {"v"}},
				}}
			}
			return true, r, nil
		})
		client.PrependReactor("create", "subjectaccessreviews", func(a clienttesting.Action) (bool, runtime.Object, error) {
			r := a.(clienttesting.CreateAction).GetObject().(*authorizationv1.SubjectAccessReview)
			n := r.Spec.NonResourceAttributes
			r.Status.Allowed = r.Spec.User == "prometheus" && r.Spec.Groups[0] == "g" && r.Spec.Extra["k"][0] == "v" && n.Verb == "get" && n.Path == "/metrics"
			return true, r, nil
		})
		d := &Delegated{Client: client, Logger: slog.New(slog.DiscardHandler)}
		handler := d.Guard(http.HandlerFunc(fine))
		get := func(path, authorization string) int {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
			if authorization != "" {
				r.Header.Set("Authorization", authorization)
			}
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			return w.Code
		}
		for _, row := range []struct {
			sentence, path, authorization string
			want                          int
		}{
			{"without a token", "/metrics", "", http.StatusUnauthorized},
			{"with a password", "/metrics", "Basic cHJvbWV0aGV1cw==", http.StatusUnauthorized},
			{"with a token of nobody", "/metrics", "Bearer nobody", http.StatusUnauthorized},
			{"of a user without the right", "/metrics", "Bearer tenant", http.StatusForbidden},
			{"of one with the right", "/metrics", "Bearer prometheus", http.StatusOK},
			{"of one whose client writes the scheme in lower case", "/metrics", "bearer prometheus", http.StatusOK},
			{"of one whose client writes it in upper case", "/metrics", "BEARER  prometheus", http.StatusOK},
			{"without a space", "/metrics", "Bearerprometheus", http.StatusUnauthorized},
			{"of one with the right to another path", "/metrics/slis", "Bearer prometheus", http.StatusForbidden},
		} {
			if got := get(row.path, row.authorization); got != row.want {
				t.Errorf("%s: %d, want %d", row.sentence, got, row.want)
			}
		}
		asked := reviews
		for range 10 {
			get("/metrics", "Bearer prometheus")
		}
		if reviews != asked {
			t.Errorf("it was asked %d times again within the time for which an answer holds", reviews-asked)
		}
		away = true
		if got := get("/metrics", "Bearer prometheus"); got != http.StatusOK {
			t.Errorf("what is known is forgotten: %d", got)
		}
		time.Sleep(believedFor) // of the bubble
		if got := get("/metrics", "Bearer prometheus"); got != http.StatusServiceUnavailable {
			t.Errorf("while the API server is away: %d", got)
		}
	})
}
