package intake

import (
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/cronjob"
	"github.com/jobledger/jobledger/projector"
)

// cronJobSeen returns the records for a CronJob observation. The time zone rules and the template that it names come
// first, if the newest log file does not have them.
func (in *Intake) cronJobSeen(o *events.Observation, f *events.CronJobSeen) []projector.Draft {
	in.mark(events.CronJobs, o.Job.UID)
	if !in.World.Settings.CronJobs {
		return nil
	}
	stream := events.CronJobStream(o.Job.UID)
	c := in.World.CronJob(stream)
	kind := events.KindCronJobAdded
	if c != nil && c.Known() {
		kind = events.KindCronJobChanged
		if f.Version < c.Seen.Version || !cronJobNews(c, f) {
			return nil
		}
	}
	var drafts []projector.Draft
	for i := range o.Zones {
		z := &o.Zones[i]
		if at, ok := in.World.ZoneAt(events.ZoneName{Name: z.Name, Hash: z.Hash}); !ok || at < in.FileStart {
			drafts = append(drafts, projector.Draft{Stream: stream, Kind: events.KindZoneStored, Facts: z})
		}
	}
	if f.Redacted != "" && in.World.TemplateAt(f.Redacted) < in.FileStart {
		drafts = append(drafts, projector.Draft{
			Stream: stream, Kind: events.KindTemplateStored,
			Facts: &events.JobTemplate{Hash: f.Redacted, Size: uint64(o.TemplateSize)}, Evidence: events.Evidence{Template: o.Template},
		})
	}
	evidence := o.Evidence
	evidence.Edit = cronEditOf(c, o, f)
	if in.starting {
		found := *f
		found.Found, f = true, &found
	}
	return append(drafts, projector.Draft{Stream: stream, Kind: kind, Facts: f, Evidence: evidence})
}

// cronJobNews reports whether an observation f of a CronJob must be recorded. That is so if the CronJob differs from
// the recorded one in more than the version, or was recorded as deleted, or if a new version alone counts: see Look and
// wakes.
func cronJobNews(c *projector.CronJob, f *events.CronJobSeen) bool {
	seen := *f
	seen.Version, seen.Generation, seen.Found = c.Seen.Version, c.Seen.Generation, c.Seen.Found
	return c.Gone || c.Look && f.Version > c.Seen.Version || wakes(c, c.Seen.Version, f.Version) || !reflect.DeepEqual(&seen, &c.Seen)
}

// wakes reports whether to record that a CronJob or one of its Jobs has a newer version (now instead of before), even
// if nothing else of the object changed. Usually such an observation is not recorded. But after its schedule was
// changed (c.Edited), a CronJob waits for its next due time, unless it or one of its Jobs is updated before: then it is
// evaluated at once, as by the built-in controller, whatever the update changed (C-092, C-096).
func wakes(c *projector.CronJob, before, now uint64) bool { return c.Edited != 0 && now > before }

func (in *Intake) cronJobGone(o *events.Observation, f *events.CronJobGone) []projector.Draft {
	c := in.World.CronJob(events.CronJobStream(o.Job.UID))
	if c == nil || c.Gone || !c.Known() {
		return nil
	}
	return []projector.Draft{{Stream: c.Stream, Kind: events.KindCronJobDeleted, Facts: f, Evidence: o.Evidence}}
}

// missingCronJobs returns records of the deletion of CronJobs that the world knows and a listing did not show. seen has
// the UIDs of the listing; version is its resourceVersion.
func (in *Intake) missingCronJobs(seen map[types.UID]bool, version uint64) []projector.Draft {
	var drafts []projector.Draft
	for _, c := range in.World.CronJobs() {
		ns := in.World.Settings.Namespace
		if c.Known() && !c.Gone && !seen[c.Ref.UID] && c.Seen.Version <= version && (ns == "" || ns == c.Ref.Namespace) {
			drafts = append(drafts, projector.Draft{
				Stream: c.Stream, Kind: events.KindCronJobDeleted, Facts: &events.CronJobGone{Version: version, Missed: true},
				Evidence: events.Evidence{Namespace: c.Ref.Namespace, Name: c.Ref.Name},
			})
		}
	}
	return drafts
}

// FollowRun returns the records that tell a CronJob about an observation of one of its Jobs (a "run"). Call it after
// Admit.
func (in *Intake) FollowRun(o *events.Observation) []projector.Draft {
	if !in.World.Settings.CronJobs {
		return nil
	}
	uid := o.Job.UID
	switch f := o.Facts.(type) {
	case *events.JobSeen:
		return in.runSeen(o, o.Run, f.Version)
	case *events.JobGone:
		return in.runGone(o, &events.RunGone{Job: uid, Version: f.Version, Missed: f.Missed})
	}
	return nil
}

// runAlone returns the records for a CronJob's Job whose own records are not kept, because another controller runs that
// Job: only its CronJob is told of it.
func (in *Intake) runAlone(o *events.Observation) []projector.Draft {
	if !in.World.Settings.CronJobs {
		return nil
	}
	switch f := o.Facts.(type) {
	case *events.RunSeen:
		in.mark(events.Jobs, f.Job)
		return in.runSeen(o, f, f.Version)
	case *events.RunGone:
		if stream, ok := in.World.RunOf(f.Job); !ok || stream == events.CronJobStream(o.CronJob) {
			return in.runGone(o, f)
		}
	}
	return nil
}

// runGone returns the records about the deletion of a Job: for the CronJob that owns it, and for a CronJob that waits
// until its name is free. No record is made if the Job is in the CronJob's list of active Jobs and has lost its owner:
// the CronJob reads that Job at the next due time (C-096).
func (in *Intake) runGone(o *events.Observation, f *events.RunGone) (drafts []projector.Draft) {
	stream, ok := in.World.RunOf(f.Job)
	if ok {
		drafts = append(drafts, projector.Draft{Stream: stream, Kind: events.KindRunGone, Facts: f})
	}
	name := o.Job.Name
	c := in.World.CronJobNamed(o.Job.Namespace, name[:max(0, strings.LastIndexByte(name, '-'))])
	if c != nil && c.Stream != stream && !f.Left && !c.IsActive(f.Job) && c.WaitsFor(name, in.World.Now) {
		gone := *f
		gone.Other = true
		drafts = append(drafts, projector.Draft{Stream: c.Stream, Kind: events.KindRunGone, Facts: &gone})
	}
	return drafts
}

// runSeen returns the records about an observed Job for the CronJob that owns it, and for the CronJob that owned it
// before.
func (in *Intake) runSeen(o *events.Observation, run *events.RunSeen, version uint64) []projector.Draft {
	owner := o.CronJob
	c := in.World.CronJob(events.CronJobStream(owner))
	if c != nil && c.Known() && c.Ref.Namespace != o.Job.Namespace {
		owner = "" // a user of another namespace wrote the owner reference (C-101)
	}
	drafts := in.runLeft(o.Job.UID, version, owner)
	if owner == "" || run == nil {
		return drafts
	}
	stream := events.CronJobStream(owner)
	run = signed(run, o, c)
	if c == nil || !c.Known() {
		of := *run
		of.Namespace, run = o.Job.Namespace, &of
	}
	if c != nil {
		if r := c.Runs[o.Job.UID]; r != nil && (run.Version < r.Version || !runNews(r, run) && !wakes(c, r.Version, run.Version)) {
			return drafts
		}
	}
	d := projector.Draft{Stream: stream, Kind: events.KindRunSeen, Facts: run}
	if c == nil || c.Ref.Name == "" {
		d.Evidence.Namespace = o.Job.Namespace
		if o.Evidence.Origin != nil {
			d.Evidence.Owner = o.Evidence.Origin.Name
		}
	}
	return append(drafts, d)
}

// signed adds to a Job that was made by hand from a CronJob the user who made it: its first field manager. Later
// observations do not change that.
func signed(run *events.RunSeen, o *events.Observation, c *projector.CronJob) *events.RunSeen {
	if !run.Manual {
		return run
	}
	with := *run
	if c != nil && c.Runs[run.Job] != nil {
		with.By = c.Runs[run.Job].By
	} else if made := makerOf(o, run.Created); made != nil {
		with.By = made.Manager
	}
	return &with
}

// runLeft returns the record that tells a CronJob that it does not own the Job any more. owner is the new owner.
func (in *Intake) runLeft(uid types.UID, version uint64, owner types.UID) []projector.Draft {
	stream, ok := in.World.RunOf(uid)
	if !ok || stream == events.CronJobStream(owner) {
		return nil
	}
	if c := in.World.CronJob(stream); c != nil && c.Runs[uid] != nil && version <= c.Runs[uid].Version {
		return nil
	}
	return []projector.Draft{{Stream: stream, Kind: events.KindRunGone, Facts: &events.RunGone{Job: uid, Version: version, Left: true}}}
}

// runNews reports whether the observation differs from what the CronJob knows of its Job r.
func runNews(r *cronjob.Run, f *events.RunSeen) bool {
	seen := *f
	seen.Version, seen.Namespace = r.Version, r.Namespace
	return seen != r.RunSeen
}

// missingRuns returns records of the deletion of CronJobs' Jobs that a listing of the watched namespace did not show.
// seen has the UIDs of the listing; version is its resourceVersion. It returns none if CronJobs are not recorded.
func (in *Intake) missingRuns(seen map[types.UID]bool, version uint64) []projector.Draft {
	settings := &in.World.Settings
	if !settings.CronJobs {
		return nil
	}
	var drafts []projector.Draft
	for _, uid := range in.World.RunUIDs() {
		stream, _ := in.World.RunOf(uid)
		c := in.World.CronJob(stream)
		if c == nil || seen[uid] || c.Runs[uid] == nil || c.Runs[uid].Version > version {
			continue
		}
		if settings.Namespace != "" && settings.Namespace != c.Ref.Namespace {
			continue
		}
		drafts = append(drafts, projector.Draft{Stream: stream, Kind: events.KindRunGone, Facts: &events.RunGone{Job: uid, Version: version, Missed: true}})
	}
	return drafts
}

// cronEditOf returns who changed the spec of a known CronJob, or who created a new one.
func cronEditOf(c *projector.CronJob, o *events.Observation, f *events.CronJobSeen) *events.Edit {
	if c == nil || !c.Known() {
		return makerOf(o, f.Created)
	}
	return editorOf(o, c.Seen.Differs(f))
}
