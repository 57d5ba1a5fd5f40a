package reader_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/examples/incidents"
	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/joblist"
	"github.com/jobledger/jobledger/internal/run/reader"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/open"
)

// cluster is an API server that knows tokens, which are names of users; but for "nobody". Users may list Jobs in the
// namespaces "user/namespace"; the empty one is all. Namespaces are older than all Jobs.
func cluster(namespaces []string, may ...string) *fake.Clientset {
	var objects []runtime.Object
	for _, name := range namespaces {
		objects = append(objects, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name,
			CreationTimestamp: metav1.NewTime(time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC))}})
	}
	c := fake.NewClientset(objects...)
	c.PrependReactor("create", "tokenreviews", func(a clienttesting.Action) (bool, runtime.Object, error) {
		r := a.(clienttesting.CreateAction).GetObject().(*authenticationv1.TokenReview)
		r.Status = authenticationv1.TokenReviewStatus{Authenticated: r.Spec.Token != "nobody",
			User: authenticationv1.UserInfo{Username: r.Spec.Token}}
		return true, r, nil
	})
	c.PrependReactor("create", "subjectaccessreviews", func(a clienttesting.Action) (bool, runtime.Object, error) {
		r := a.(clienttesting.CreateAction).GetObject().(*authorizationv1.SubjectAccessReview)
		of := r.Spec.ResourceAttributes
		r.Status.Allowed = of.Verb == "list" && of.Group == "batch" && of.Resource == "jobs" &&
			slices.Contains(may, r.Spec.User+"/"+of.Namespace)
		return true, r, nil
	})
	return c
}

// fixed is a log that this process has open.
type fixed struct {
	local  history.Local
	opened func() // is called in Open; nil for nothing
}

func (f fixed) Open(_ context.Context, d *store.Damage, _ func(string)) (reader.Opened, error) {
	if f.opened != nil {
		f.opened()
	}
	local := f.local
	local.Damage = d
	return reader.Opened{Source: local}, nil
}

func (fixed) Run(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

// recorded is a recorded log, and in which namespaces its Jobs are.
func recorded(t *testing.T) (log history.Local, namespaces []string) {
	t.Helper()
	dir := t.TempDir()
	if err := incidents.Write("delegated", dir); err != nil {
		t.Fatal(err)
	}
	archive, err := open.Archive(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = archive.Close() })
	log = history.Local{Log: archive, Lists: joblist.New(joblist.Config{Log: archive})}
	jobs, err := log.Jobs(t.Context(), history.JobsQuery{})
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range jobs.Items {
		namespaces = append(namespaces, j.Namespace)
	}
	slices.Sort(namespaces)
	if namespaces = slices.Compact(namespaces); len(namespaces) < 3 {
		t.Fatalf("the log has Jobs in %v", namespaces)
	}
	return log, namespaces
}

// run runs a reader until the end of the test.
func run(t *testing.T, c reader.Config) *reader.Reader {
	t.Helper()
	c.Hosts = []string{"127.0.0.1"}
	c.Address, c.Logger, c.Within = "127.0.0.1:0", slog.New(slog.DiscardHandler), patience.Time()
	r, err := reader.New(c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return r
}

// reply is what a request got.
type reply struct {
	status int
	header http.Header
	body   string
}

func (r reply) notes() string { return strings.Join(r.header.Values("Jobledger-Note"), "\n") }

// as asks as a user, whose token is his name; no token for "".
func as(t *testing.T, r *reader.Reader, user, address string, headers ...string) reply {
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.URL()+address, nil)
	if err != nil {
		t.Fatal(err)
	}
	if user != "" {
		q.Header.Set("Authorization", "Bearer "+user)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		q.Header.Set(headers[i], headers[i+1])
	}
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // whose it is is tested elsewhere
		DisableKeepAlives: true,
	}}
	response, err := client.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{response.StatusCode, response.Header, string(body)}
}

// TestNobodyIsAnsweredWithoutAnIdentity: no question, page, style or address that there is not; on loopback, and with
// the headers that proxies set.
func TestNobodyIsAnsweredWithoutAnIdentity(t *testing.T) {
	log, spaces := recorded(t)
	r := run(t, reader.Config{Client: cluster(spaces, "nobody/"), Log: fixed{local: log}})
	for _, address := range []string{"/", "/v1/jobs", "/v1/explain/" + spaces[0] + "/x", "/style.css", "/healthz",
		"/v1/records"} {
		for _, headers := range [][]string{nil, {"X-Remote-User", "admin"}, {"X-Forwarded-User", "admin"},
			{"Authorization", "Basic YWRtaW46"}, {"Authorization", "Bearer nobody"}} {
			got := as(t, r, "", address, headers...)
			if got.status != http.StatusUnauthorized || got.header.Get("WWW-Authenticate") != "Bearer" ||
				strings.Contains(got.body, spaces[0]) {
				t.Errorf("%s with %v: %d %s", address, headers, got.status, got.body)
			}
			var said struct{ Error string }
			if strings.HasPrefix(address, "/v1/") && (json.Unmarshal([]byte(got.body), &said) != nil || said.Error == "") {
				t.Errorf("%s: %q is no error in JSON", address, got.body)
			}
		}
	}
}

// TestEachIsAnsweredWhatHeMayRead: who may read all is told all; who may read one namespace is told of that one, and
// that it is only one; every refusal names the right that is missing.
func TestEachIsAnsweredWhatHeMayRead(t *testing.T) {
	log, spaces := recorded(t)
	mine, other := spaces[0], spaces[1]
	r := run(t, reader.Config{Client: cluster(spaces, "admin/", "ann/"+mine), Log: fixed{local: log}})
	job := map[string]history.Summary{}
	for _, space := range spaces {
		page, err := log.Jobs(t.Context(), history.JobsQuery{Namespace: space, Limit: 1})
		if err != nil || len(page.Items) == 0 {
			t.Fatalf("%s has no Job: %v", space, err)
		}
		job[space] = page.Items[0]
	}
	of := func(space string) string { return space + "/" + job[space].Name }
	for _, row := range []struct {
		user, address string
		status        int
		says          string
	}{
		{"admin", "/v1/jobs", http.StatusOK, other},
		{"admin", "/", http.StatusOK, other},
		{"admin", "/job/" + of(other), http.StatusOK, job[other].Name},
		{"admin", "/v1/nosuch", http.StatusNotFound, "no such question"},
		{"ann", "/v1/jobs?namespace=" + mine, http.StatusOK, job[mine].Name},
		{"ann", "/v1/explain/" + of(mine), http.StatusOK, job[mine].Name},
		{"ann", "/v1/explain/" + job[mine].Name + "?near=" + mine, http.StatusOK, job[mine].Name},
		{"ann", "/?n=" + mine, http.StatusOK, job[mine].Name},
		{"ann", "/job/" + of(mine), http.StatusOK, job[mine].Name},
		{"ann", "/job/" + of(mine) + "?o=md", http.StatusOK, job[mine].Name},
		{"ann", "/v1/jobs", http.StatusForbidden, "may not list jobs (batch) in all namespaces"},
		{"ann", "/", http.StatusForbidden, "may not list jobs (batch) in all namespaces"},
		{"ann", "/find?q=" + job[mine].Name, http.StatusForbidden, "may not list jobs (batch) in all namespaces"},
		{"ann", "/v1/explain/" + of(other), http.StatusForbidden, "may not list jobs (batch) in namespace " + other},
		{"ann", "/job/" + of(other), http.StatusForbidden, "may not list jobs (batch) in namespace " + other},
		{"ann", "/v1/jobs?namespace=" + other, http.StatusForbidden, "may not list jobs (batch) in namespace " + other},
		{"ann", "/v1/jobs?namespace=gone", http.StatusForbidden, "may not list jobs (batch) in namespace gone"},
		{"bob", "/v1/explain/" + of(mine), http.StatusForbidden, `may not list jobs (batch) in namespace ` + mine},
	} {
		got := as(t, r, row.user, row.address)
		if got.status != row.status || !strings.Contains(got.body, row.says) {
			t.Errorf("%s asks %s: %d, want %d and %q in\n%s", row.user, row.address, got.status, row.status, row.says, got.body)
		}
		const only = "only records of namespace "
		switch limited := row.user == "ann" && row.status == http.StatusOK; {
		case limited && !strings.Contains(got.notes(), only+mine):
			t.Errorf("%s asks %s: the answer does not say that it leaves something out: %q", row.user, row.address, got.notes())
		case !limited && strings.Contains(got.notes(), only):
			t.Errorf("%s asks %s: the answer says %q", row.user, row.address, got.notes())
		}
		if row.user != "admin" && row.status == http.StatusForbidden && strings.Contains(got.body, job[other].UID) {
			t.Errorf("%s asks %s: the refusal tells of the log:\n%s", row.user, row.address, got.body)
		}
	}
	hidden := map[string]bool{} // what only records of others say
	for _, space := range spaces[1:] {
		hidden[job[space].UID] = true
		if strings.Contains(space, "-") && !strings.Contains(mine, space) { // else it may be a word
			hidden[space] = true
		}
	}
	for _, address := range []string{"/v1/jobs?namespace=" + mine, "/v1/failures?namespace=" + mine,
		"/v1/find?q=e&namespace=" + mine, "/v1/explain/" + of(mine), "/?n=" + mine, "/job/" + of(mine), "/find?q=e&n=" + mine,
		"/v1/plan?namespace=" + mine, "/v1/cronjobs?namespace=" + mine, "/v1/get/job/nosuch?namespace=" + mine} {
		got := as(t, r, "ann", address)
		for name := range hidden {
			if strings.Contains(got.body+fmt.Sprint(got.header), name) {
				t.Errorf("%s names %q, of another namespace", address, name)
			}
		}
	}
}

// TestAPageOfARecord: its namespace is that of its object. Whoever may not read that is told the same of all records,
// and of those that there are not.
func TestAPageOfARecord(t *testing.T) {
	log, spaces := recorded(t)
	mine := spaces[0]
	r := run(t, reader.Config{Client: cluster(spaces, "ann/"+mine), Log: fixed{local: log}})
	names := history.NamesOf(t.Context(), log)
	refusal, seen := "", map[int]int{}
	next := map[bool]events.Sequence{}
	for rec, err := range log.Read(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		names.Learn(&rec)
		may := rec.Stream.Kind == events.StreamJob && names.Job(rec.Stream).Namespace == mine
		if rec.Sequence < next[may] {
			continue
		}
		next[may] = rec.Sequence + 40 // each request costs
		for _, form := range []string{"", "?o=json"} {
			got := as(t, r, "ann", fmt.Sprintf("/record/%d%s", rec.Sequence, form))
			if seen[got.status]++; may != (got.status == http.StatusOK) {
				t.Errorf("record %d %s of %s: %d", rec.Sequence, rec.Kind, rec.Stream, got.status)
			}
			if !may && form == "?o=json" {
				if refusal == "" {
					refusal = got.body
				}
				if got.body != refusal || got.status != http.StatusForbidden {
					t.Errorf("record %d: %d %q, and of others %q", rec.Sequence, got.status, got.body, refusal)
				}
			}
		}
	}
	none := as(t, r, "ann", fmt.Sprintf("/record/%d?o=json", log.Log.Head().Sequence+10))
	if none.status != http.StatusForbidden || none.body != refusal {
		t.Errorf("a record that there is not: %d %q, and of others %q", none.status, none.body, refusal)
	}
	if seen[http.StatusOK] < 2 || seen[http.StatusForbidden] < 2 {
		t.Errorf("answers by status: %v", seen)
	}
}
