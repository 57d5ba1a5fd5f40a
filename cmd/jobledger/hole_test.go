package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/run/controller"
	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
)

// TestADamagedFileWithoutItsIndexStopsNoNewJob: the loop asks the log for the past of each new Job. A damaged file
// without an index cannot tell. The page of readiness names such files, and stays ready.
func TestADamagedFileWithoutItsIndexStopsNoNewJob(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	makeSeason(t, dir, "", seasonJobs)
	p := &patient{t: t, dir: dir, r: rand.New(rand.NewPCG(1, 1))}
	file := p.packed()
	p.remove(strings.TrimSuffix(file, ".db") + ".idx")
	whole := p.read(file)
	var log *boltlog.Log
	for _, page := range p.pages(file) { // until it is one of the records, which are not read at the start
		content := slices.Clone(whole)
		clear(content[page : page+boltPage])
		p.write(file, content)
		var err error
		if log, err = boltlog.Open(dir, smallFiles); err != nil {
			continue
		}
		if _, err = log.Find("default", "nobody"); errors.Is(err, store.ErrCorrupt) {
			break
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
	}
	defer log.Close()
	world, err := loop.Recover(t.Context(), log)
	if err != nil {
		t.Fatal(err)
	}
	c := startCluster(t, log, world, seasonKey.ID(), log.Head().Time.Add(time.Minute))
	c.settle()
	for n := range 3 {
		c.addJob("default", "new", 500+n, func(*events.JobSpec) {})
		c.settle()
	}
	h := &controller.Health{Holes: log.Holes}
	answer := httptest.NewRecorder()
	request := httptest.NewRequest("GET", "/readyz?verbose", nil)
	local := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}
	h.Probe("readyz", true)(answer, request.WithContext(context.WithValue(request.Context(), http.LocalAddrContextKey, local)))
	if text := answer.Body.String(); answer.Code != 200 || strings.Count(text, "[~]log: a sealed file is damaged") != 1 || !strings.Contains(text, file) {
		t.Errorf("the page of readiness: %d\n%s", answer.Code, text)
	}
}
