package fuzz

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/store/boltlog"
	"github.com/jobledger/jobledger/test/internal/audit"
	"github.com/jobledger/jobledger/test/internal/faults"
)

// judge reports where the audit log and the log differ.
func (c *counted) judge(t *testing.T, ctx context.Context, calls func() []faults.Call, dir string) {
	t.Helper()
	report, err := c.compare(ctx, calls, dir)
	if err != nil {
		t.Error(err)
	}
	for _, p := range report.Problems {
		t.Error(p)
	}
	if report.Writes < c.writes {
		t.Errorf("%d tries were compared, and %d statuses alone were written", report.Writes, c.writes)
	}
	t.Logf("%d tries of %d commands; of %d the last outcome is not recorded, for the kill or the end of the Job", report.Writes, report.Commands, report.Cut)
}

// compare compares each write of the stopped controller in the audit log with the commands of its log. The controller
// has its own user: neither lanes nor kubelets write under that name.
func (c *counted) compare(ctx context.Context, calls func() []faults.Call, dir string) (report audit.Report, err error) {
	late := c.await(ctx, calls)
	log, err := boltlog.OpenReadOnly(dir)
	if err != nil {
		return audit.Report{}, err
	}
	defer func() { err = errors.Join(err, late, log.Close()) }() // Join names the writes that never came
	writes, problems := audit.Join(c.all, calls())
	report, err = audit.Check(writes, log.Read(context.WithoutCancel(ctx), 1))
	report.Problems = append(problems, report.Problems...)
	return report, err
}

// await returns when the audit log has every write that the API server has answered. A write is logged just after its
// answer.
func (c *counted) await(ctx context.Context, calls func() []faults.Call) error {
	ctx, cancel := patience.Context(ctx)
	defer cancel()
	return patience.Until(ctx, 50*time.Millisecond, nil, func() (bool, error) {
		if err := c.read(); err != nil {
			return false, err
		}
		has := map[string]bool{}
		for i := range c.all {
			has[c.all[i].ID] = true
		}
		missing := slices.ContainsFunc(calls(), func(call faults.Call) bool { return call.Answer != 0 && !has[call.ID] })
		return !missing, nil
	})
}
