package httpapi

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
)

// list returns the objects of a kind, namespace and name that a request selects, or one page of them. All pages show
// the state at the time of the first page, even after later writes.
func (s *Server) list(r *http.Request, p path) (any, error) {
	query := r.URL.Query()
	size, err := s.pageSize(query)
	if err != nil {
		return nil, err
	}
	all, from := s.world.Server.List(p.kind), 0
	if token := query.Get("continue"); token != "" {
		var version uint64
		if version, from, err = parseContinue(token); err != nil {
			return nil, err
		}
		if version > all.Version {
			return nil, apierrors.NewResourceExpired("the cluster went back: its version is older than that of the first page")
		}
		all = s.world.Server.ListStale(p.kind, version)
	}
	meta := map[string]string{"resourceVersion": strconv.FormatUint(all.Version, 10)}
	items := selected(all, p, query)
	items = items[min(from, len(items)):]
	if size > 0 && len(items) > size {
		items = items[:size]
		meta["continue"] = fmt.Sprintf("%d.%d", all.Version, from+size)
	}
	return map[string]any{
		"kind": kinds[p.kind].Kind + "List", "apiVersion": kinds[p.kind].GroupVersion().String(), "metadata": meta, "items": items,
	}, nil
}

// selected returns the objects that a request selects by namespace or name.
func selected(all apiserver.List, p path, query url.Values) []any {
	items := []any{}
	_, name, _ := strings.Cut(query.Get("fieldSelector"), metav1.ObjectNameField+"=")
	for _, o := range all.Items {
		if p.in(o) && (name == "" || o.GetName() == name) {
			o, _ := typed(o, nil)
			items = append(items, o)
		}
	}
	return items
}

// pageSize returns the largest number of objects on a page; 0 if the request asks for all on one.
func (s *Server) pageSize(query url.Values) (int, error) {
	text := query.Get("limit")
	if text == "" || text == "0" {
		return 0, nil
	}
	limit, err := strconv.Atoi(text)
	if err != nil || limit < 0 {
		return 0, apierrors.NewBadRequest(fmt.Sprintf("limit %q is no number of objects", text))
	}
	if s.cfg.MaxPage > 0 {
		limit = min(limit, s.cfg.MaxPage)
	}
	return limit, nil
}

// parseContinue parses the token of a next page, VERSION.FROM: the version of the first page, and how many objects the
// earlier pages had.
func parseContinue(token string) (version uint64, from int, err error) {
	first, second, _ := strings.Cut(token, ".")
	version, err = strconv.ParseUint(first, 10, 64)
	if err == nil {
		from, err = strconv.Atoi(second)
	}
	if err != nil || from < 0 {
		return 0, 0, apierrors.NewBadRequest(fmt.Sprintf("continue %q is not where a page ended", token))
	}
	return version, from, nil
}
