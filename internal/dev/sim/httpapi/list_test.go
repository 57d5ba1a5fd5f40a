package httpapi_test

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
	"github.com/jobledger/jobledger/internal/dev/sim/httpapi"
	"github.com/jobledger/jobledger/internal/dev/sim/world"
)

// TestPagesAreOfOneVersion: a list in pages has every object that existed when it began, once, even if pods come and go
// meanwhile. A page has at most as many as the client and the server allow.
func TestPagesAreOfOneVersion(t *testing.T) {
	for _, row := range []struct {
		limit    int64
		maxPage  int
		wantSize []int
	}{{2, 0, []int{2, 2, 1}}, {500, 2, []int{2, 2, 1}}, {1, 2, []int{1, 1, 1, 1, 1}}, {5, 0, []int{5}}, {0, 2, []int{5}}} {
		t.Run(fmt.Sprintf("limit %d of at most %d", row.limit, row.maxPage), func(t *testing.T) {
			client, server := connect(t, httpapi.Config{World: world.New(world.Config{}), MaxPage: row.maxPage}, "application/json")
			add := func(names ...string) {
				for _, name := range names {
					pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
					server.Do(func(w *world.World) {
						if err := w.Server.Load(pod); err != nil {
							t.Error(err)
						}
					})
				}
			}
			add("a", "b", "c", "d", "e")
			var sizes []int
			var names []string
			options, version := metav1.ListOptions{Limit: row.limit}, ""
			for {
				page, err := client.CoreV1().Pods("").List(t.Context(), options)
				if err != nil {
					t.Fatal(err)
				}
				sizes = append(sizes, len(page.Items))
				for _, pod := range page.Items {
					names = append(names, pod.Name)
				}
				if version != "" && page.ResourceVersion != version {
					t.Errorf("a page is as of %s, the first was as of %s", page.ResourceVersion, version)
				}
				version = page.ResourceVersion
				if options.Continue = page.Continue; options.Continue == "" {
					break
				}
				if len(sizes) == 1 {
					add("aa", "dd")
					if err := client.CoreV1().Pods("default").Delete(t.Context(), "e", metav1.DeleteOptions{}); err != nil {
						t.Fatal(err)
					}
				}
			}
			if !slices.Equal(sizes, row.wantSize) || !slices.Equal(names, []string{"a", "b", "c", "d", "e"}) {
				t.Errorf("pages of %v with %v, want pages of %v", sizes, names, row.wantSize)
			}
		})
	}
}

func TestPagesThatAreRefused(t *testing.T) {
	client, server := connect(t, httpapi.Config{World: world.New(world.Config{})}, "application/json")
	list := func(options metav1.ListOptions) error {
		_, err := client.CoreV1().Pods("").List(t.Context(), options)
		return err
	}
	if err := list(metav1.ListOptions{Limit: 1, Continue: "nonsense"}); !apierrors.IsBadRequest(err) {
		t.Errorf("a token that no page gave: %v", err)
	}
	if err := list(metav1.ListOptions{Limit: -1}); !apierrors.IsBadRequest(err) {
		t.Errorf("a limit below 0: %v", err)
	}
	var early *apiserver.Backup
	server.Do(func(w *world.World) {
		early = w.Server.Backup()
		for _, name := range []string{"a", "b"} {
			if err := w.Server.Load(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}); err != nil {
				t.Error(err)
			}
		}
	})
	page, err := client.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{Limit: 1})
	if err != nil || page.Continue == "" {
		t.Fatalf("continue %q, %v", page.Continue, err)
	}
	server.Do(func(w *world.World) { w.Server.Restore(early); w.Kubelet.Rewound() })
	if err := list(metav1.ListOptions{Limit: 1, Continue: page.Continue}); !apierrors.IsResourceExpired(err) {
		t.Errorf("a page of a version that the cluster has no more: %v", err)
	}
}
