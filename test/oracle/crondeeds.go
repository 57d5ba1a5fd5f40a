package oracle

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
	"github.com/jobledger/jobledger/internal/subject/schedule"
	"github.com/jobledger/jobledger/internal/subject/zones"
)

// cronDeeds maps verbs to the actions of users on CronJobs, and on the names of their Jobs.
//
//	create CRON                    delete CRON [background|foreground|orphan]        touch CRON
//	edit CRON WORDS                force CRON WORDS     (without validation; creates the CronJob if there is none)
//	meddle CRON last=N|none success=N|none active=none  (changes its status; seconds from now)
//	manual CRON NAME               (kubectl create job NAME --from=cronjob/CRON)
//	squat CRON nobody|another|own [N]  (creates a Job with the name of the Nth next due time, or with N=0 of the last
//	                                   one that ran. Its controller is none, another object of the CronJob's name, or
//	                                   the CronJob)
var cronDeeds = map[string]func(c *cluster, name string, args []string) error{
	"create": func(c *cluster, name string, _ []string) error {
		_, err := c.user.CreateCronJob(context.Background(), c.crons[name])
		return passOver(err)
	},
	"delete": func(c *cluster, name string, args []string) error {
		return passOver(c.user.DeleteCronJob(context.Background(), namespace, name, "", propagation(args)))
	},
	"touch": func(c *cluster, name string, _ []string) error {
		c.world.Server.Touch("somebody", apiserver.CronJobs, namespace, name)
		return nil
	},
	"edit": func(c *cluster, name string, args []string) error {
		cronJob := c.world.Server.CronJob(namespace, name)
		if cronJob == nil {
			return nil
		}
		if err := setCronWords(cronJob, args); err != nil {
			return err
		}
		_, err := c.user.UpdateCronJob(context.Background(), cronJob)
		return passOver(err)
	},
	"force": func(c *cluster, name string, args []string) error {
		cronJob := c.world.Server.CronJob(namespace, name)
		made := cronJob == nil
		if made {
			cronJob = c.crons[name].DeepCopy()
		}
		if err := setCronWords(cronJob, args); err != nil {
			return err
		}
		if made {
			return c.world.Server.Load(cronJob)
		}
		c.world.Server.Overwrite(cronJob)
		return nil
	},
	"meddle": meddleCron,
	"manual": manual,
	"squat":  squat,
}

func propagation(words []string) metav1.DeletionPropagation {
	for _, word := range words {
		switch word {
		case "foreground":
			return metav1.DeletePropagationForeground
		case "orphan":
			return metav1.DeletePropagationOrphan
		}
	}
	return metav1.DeletePropagationBackground
}

// meddleCron changes the status of a CronJob as a user would. args are the words of the scenario's action.
func meddleCron(c *cluster, name string, args []string) error {
	cronJob := c.world.Server.CronJob(namespace, name)
	if cronJob == nil {
		return nil
	}
	for _, word := range args {
		key, value, _ := strings.Cut(word, "=")
		var at *metav1.Time
		if value != "none" {
			seconds, err := strconv.Atoi(value)
			if err != nil {
				return err
			}
			at = new(metav1.NewTime(c.world.Clock.Now().Add(time.Duration(seconds) * time.Second)))
		}
		switch key {
		case "last":
			cronJob.Status.LastScheduleTime = at
		case "success":
			cronJob.Status.LastSuccessfulTime = at
		case "active":
			cronJob.Status.Active = nil
		default:
			return fmt.Errorf("no word of a CronJob's status: %s", word)
		}
	}
	_, err := c.user.UpdateCronJobStatus(context.Background(), cronJob)
	return passOver(err)
}

// jobOfCron returns a Job like one that a user creates by hand from the template of a CronJob.
func jobOfCron(cronJob *batchv1.CronJob, name string) *batchv1.Job {
	template := cronJob.Spec.JobTemplate.DeepCopy()
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: template.Labels, Annotations: template.Annotations},
		Spec:       template.Spec,
	}
	if job.Annotations == nil {
		job.Annotations = map[string]string{}
	}
	return job
}

// manual creates a Job from the CronJob's template, as kubectl create job --from does (C-223).
func manual(c *cluster, name string, args []string) error {
	cronJob := c.world.Server.CronJob(namespace, name)
	if cronJob == nil {
		return nil
	}
	job := jobOfCron(cronJob, args[0])
	job.Annotations["cronjob.kubernetes.io/instantiate"] = "manual"
	job.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: "batch/v1", Kind: "CronJob", Name: name, UID: cronJob.UID, Controller: new(true),
	}}
	_, err := c.user.CreateJob(context.Background(), job)
	return passOver(err)
}

// squat creates a Job that takes the name which the Job of a later due time of the CronJob will need.
func squat(c *cluster, name string, args []string) error {
	cronJob := c.world.Server.CronJob(namespace, name)
	if cronJob == nil {
		return nil
	}
	nth := 1
	if len(args) > 1 {
		var err error
		if nth, err = strconv.Atoi(args[1]); err != nil {
			return err
		}
	}
	due, ok := dueTime(cronJob, c.world.Clock.Now(), nth)
	if last := cronJob.Status.LastScheduleTime; nth == 0 && last != nil {
		due, ok = last.Time, true
	}
	if !ok {
		return nil
	}
	job := jobOfCron(cronJob, fmt.Sprintf("%s-%d", name, due.Unix()/60))
	switch args[0] {
	case "nobody":
	case "another":
		job.OwnerReferences = []metav1.OwnerReference{{
			APIVersion: "example.com/v1", Kind: "Other", Name: name, UID: "other-" + cronJob.UID, Controller: new(true),
		}}
	case "own":
		job.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(cronJob, batchv1.SchemeGroupVersion.WithKind("CronJob"))}
	default:
		return fmt.Errorf("no way to take a name")
	}
	_, err := c.user.CreateJob(context.Background(), job)
	return passOver(err)
}

// dueTime returns the Nth due time of the CronJob after now. ok is false if the CronJob has none.
func dueTime(cronJob *batchv1.CronJob, now time.Time, nth int) (at time.Time, ok bool) {
	locate := func(name string) (*time.Location, error) {
		if rules, ok := zones.Find(name); ok {
			return time.LoadLocationFromTZData(name, rules.TZif)
		}
		return nil, schedule.UnknownZone(name)
	}
	var zone *time.Location
	if name := cronJob.Spec.TimeZone; name != nil {
		var err error
		if zone, err = schedule.Locate(*name, locate); err != nil {
			return at, false
		}
	}
	s, err := schedule.Parse(cronJob.Spec.Schedule, zone, locate)
	if err != nil {
		return at, false
	}
	if at = now; s.Every() {
		at = cronJob.CreationTimestamp.UTC()
		if last := cronJob.Status.LastScheduleTime; last != nil {
			at = last.UTC()
		}
		for next := s.Next(at); !next.After(now); next = s.Next(at) {
			at = next
		}
	}
	for range nth {
		if at = s.Next(at); at.IsZero() {
			return at, false
		}
	}
	return at, true
}
