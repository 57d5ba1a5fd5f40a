package audit

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// ask returns the write that a command of a Job or CronJob asks for, as a Deed (kind, object, owner, version) without
// its kind. life identifies the log, subject is the UID of the Job or CronJob.
type ask func(life events.Identity, subject types.UID, c events.Command) Deed

// asks has, for each kind of command that makes a write, the function that returns this write; nil for all other
// kinds.
var asks = [events.MaxCommandKind + 1]ask{
	events.CommandCreatePod: func(life events.Identity, subject types.UID, c events.Command) Deed {
		ordinal, _ := events.OrdinalOf(c)
		return Deed{Object: life.CommandOf(subject, ordinal), Owner: subject}
	},
	events.CommandDeletePod:     ofPod,
	events.CommandDropFinalizer: ofPod,
	events.CommandAdoptPod:      owned(ofPod),
	events.CommandReleasePod:    owned(ofPod),
	events.CommandWriteStatus: of(func(subject types.UID, c *events.WriteStatus) Deed {
		return Deed{Object: string(subject), Version: c.Base}
	}),
	events.CommandDeleteJob: of(func(_ types.UID, c *events.DeleteJob) Deed {
		return Deed{Object: string(c.Job), Version: c.Version}
	}),
	events.CommandCreateWorkload: owned(nothing),
	events.CommandCreatePodGroup: owned(nothing),
	events.CommandResizeGroup:    owned(nothing),
	events.CommandCreateJob: owned(of(func(_ types.UID, c *events.CreateJob) Deed {
		return Deed{Object: c.Name}
	})),
	events.CommandDeleteRun: of(func(_ types.UID, c *events.DeleteRun) Deed {
		return Deed{Object: string(c.Job)}
	}),
	events.CommandWriteCronStatus: of(func(subject types.UID, c *events.WriteCronStatus) Deed {
		return Deed{Object: string(subject), Version: c.Base}
	}),
}

func of[C events.Command](row func(types.UID, C) Deed) ask {
	return func(_ events.Identity, subject types.UID, c events.Command) Deed { return row(subject, c.(C)) }
}

func ofPod(_ events.Identity, _ types.UID, c events.Command) Deed {
	return Deed{Object: string(events.PodOf(c)), Version: events.VersionOf(c)}
}

func nothing(events.Identity, types.UID, events.Command) Deed { return Deed{} }

// owned returns a function like row that also sets the Job or CronJob as the owner of the object.
func owned(row ask) ask {
	return func(life events.Identity, subject types.UID, c events.Command) Deed {
		d := row(life, subject, c)
		d.Owner = subject
		return d
	}
}
