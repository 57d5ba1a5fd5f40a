package oracle

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
	"github.com/jobledger/jobledger/internal/dev/sim/notation"
)

// deed carries out one action. An action without a target (no such pod, a deleted Job) does nothing, and so does an
// action that the API server refuses. If one cluster treats such an action differently, the pictures show it.
//
//	create JOB                     delete JOB [background|foreground|orphan]
//	edit JOB WORDS                 touch JOB            meddle JOB WORDS (of [notation.Status], into its status)
//	stamp JOB SECONDS|none         (sets the finish time of a finished Job: so many seconds from now, or none)
//	run|succeed|restart POD        fail POD [exit=N] [cond=TYPE]   (what a kubelet reports)
//	kill|force POD                 (a user deletes it; force: without a grace period)
//	strip|orphan|relabel|restore|reclaim|touchpod|keep|unkeep POD  (reclaim: restore, even of an ended pod)
//	reindex POD N
//	stray JOB [INDEX]              (a pod without an owner that the Job selects)
//	deny VERB [POD] [KIND] [once]  allow                (VERB: create, delete, patch, status; of Jobs: createjob,
//	                                                    remove, get; of CronJobs: cronstatus, getcron)
//	hold pods|jobs|cronjobs        release              (watches)
//	die N                          start [lost]         (the controller dies after N writes, or at the next step;
//	                                                    lost: it starts without its log)
//	die VERB [before]                                   (it dies at its next request of that verb, after or before
//	                                                    the request takes effect)
//	clock SECONDS                                       (the controller's clock is so many seconds slow)
func (c *cluster) deed(words []string) error {
	verb, args := words[0], words[1:]
	if control := c.control(verb, args); control != nil {
		return control()
	}
	if len(args) == 0 {
		return fmt.Errorf("of what?")
	}
	if c.crons[strings.Split(args[0], ".")[0]] != nil {
		return c.cronDeed(verb, args[0], args[1:])
	}
	if deed, ok := jobDeeds[verb]; ok {
		if c.jobs[args[0]] == nil {
			return fmt.Errorf("the scenario has no such job")
		}
		return deed(c, args[0], args[1:])
	}
	deed, ok := podDeeds[verb]
	if !ok {
		return fmt.Errorf("no such deed")
	}
	ref, err := parsePod(args[0])
	if err != nil {
		return err
	}
	for _, pod := range c.find(ref, deed.fits) {
		if err := deed.do(c, pod, args[1:]); err != nil {
			return err
		}
	}
	return nil
}

// cronDeed carries out one action on a CronJob or on its Jobs.
func (c *cluster) cronDeed(verb, name string, args []string) error {
	if deed, ok := cronDeeds[verb]; ok {
		return deed(c, name, args)
	}
	deed, ok := runDeeds[verb]
	if !ok {
		return fmt.Errorf("no such deed")
	}
	ref, err := parseRun(name)
	if err != nil {
		return err
	}
	for _, job := range c.runs(ref, deed.fits) {
		if err := deed.do(c, job, args); err != nil {
			return err
		}
	}
	return nil
}

// control returns the function for an action on the controller's process, requests, watches or clock; nil if the verb
// is another one.
func (c *cluster) control(verb string, args []string) func() error {
	switch verb {
	case "deny":
		return func() error { return c.deny(args) }
	case "allow":
		return func() error { c.rules, c.allowed = nil, c.world.Clock.Now(); return nil }
	case "hold":
		return func() error { c.held[apiserver.Kind(args[0])] = true; return nil }
	case "release":
		return func() error { clear(c.held); return nil }
	case "die":
		return func() error { return c.die(args) }
	case "start":
		return func() error {
			c.budget, c.fall, c.spent = -1, nil, false
			return c.begin(len(args) > 0)
		}
	case "clock":
		return func() error {
			seconds, err := strconv.Atoi(args[0])
			skew := -time.Duration(seconds) * time.Second
			by := skew - time.Duration(c.skew.Swap(int64(skew)))
			if c.step != nil {
				c.step(by)
			}
			return err
		}
	}
	return nil
}

// die sets when the controller will be killed: after a number of writes, or at its next request with a certain verb.
func (c *cluster) die(args []string) error {
	n, err := strconv.Atoi(args[0])
	if err == nil {
		c.budget, c.spent = n, c.spent || n == 0
		return nil
	}
	c.fall = &fall{args[0], apiserver.Fault{Kind: apiserver.TimeoutAfter}}
	if len(args) > 1 {
		c.fall.fault.Kind = apiserver.ConnectionRefused
	}
	return nil
}

// deny adds a rule that refuses requests of the controller. Its words are a verb and, optionally, a pod, a kind of
// fault and "once".
func (c *cluster) deny(args []string) error {
	rule := denial{verb: args[0], fault: apiserver.WebhookDenied}
	for _, word := range args[1:] {
		if fault, ok := faults[word]; ok {
			rule.fault = fault
			continue
		}
		if rule.once = rule.once || word == "once"; word == "once" {
			continue
		}
		ref, err := parsePod(word)
		if err != nil {
			return err
		}
		rule.ref = &ref
	}
	c.rules = append(c.rules, rule)
	return nil
}

// jobDeeds maps the verbs of a scenario to actions of users on Jobs.
var jobDeeds = map[string]func(c *cluster, name string, args []string) error{
	"create": func(c *cluster, name string, _ []string) error {
		_, err := c.user.CreateJob(context.Background(), c.jobs[name])
		return passOver(err)
	},
	"delete": func(c *cluster, name string, args []string) error {
		policy := metav1.DeletePropagationBackground
		for _, word := range args {
			policy = map[string]metav1.DeletionPropagation{
				"foreground": metav1.DeletePropagationForeground, "orphan": metav1.DeletePropagationOrphan,
			}[word]
		}
		return passOver(c.user.DeleteJob(context.Background(), namespace, name, "", policy))
	},
	"edit": func(c *cluster, name string, args []string) error {
		job := c.world.Server.Job(namespace, name)
		if job == nil {
			return nil
		}
		if err := setWords(job, args); err != nil {
			return err
		}
		_, err := c.user.UpdateJob(context.Background(), job)
		return passOver(err)
	},
	"touch": func(c *cluster, name string, _ []string) error {
		c.world.Server.Touch("somebody", apiserver.Jobs, namespace, name)
		return nil
	},
	"meddle": meddle,
	"stamp":  stamp,
	"stray":  stray,
}

// meddle changes the status of an unfinished Job as the words of [notation.Status] say.
func meddle(c *cluster, name string, args []string) error {
	job := c.world.Server.Job(namespace, name)
	if job == nil || apiserver.JobFinished(job) {
		return nil
	}
	now := metav1.NewTime(c.world.Clock.Now())
	for _, word := range args {
		var said events.JobStatus
		if ok, err := notation.Status(&said, word, events.At(now.Time)); err != nil || !ok {
			return fmt.Errorf("no word of a status: %s (%w)", word, err)
		}
		for _, cond := range said.Conditions {
			setCondition(&job.Status, batchv1.JobCondition{
				Type: batchv1.JobConditionType(cond.Type), Status: corev1.ConditionStatus(cond.Status),
				Reason: cond.Reason, Message: cond.Message, LastTransitionTime: now, LastProbeTime: now,
			})
		}
		if strings.HasPrefix(word, "active=") {
			job.Status.Active = said.Active
		}
	}
	_, err := c.user.UpdateJobStatus(context.Background(), job)
	return passOver(err)
}

// stamp changes the finish time in the status of a finished Job, as a user might.
func stamp(c *cluster, name string, args []string) error {
	job := c.world.Server.Job(namespace, name)
	if job == nil || !apiserver.JobFinished(job) {
		return nil
	}
	at := metav1.Time{}
	if args[0] != "none" {
		seconds, err := strconv.Atoi(args[0])
		if err != nil {
			return err
		}
		at = metav1.NewTime(c.world.Clock.Now().Add(time.Duration(seconds) * time.Second))
	}
	for i := range job.Status.Conditions {
		job.Status.Conditions[i].LastTransitionTime = at
	}
	_, err := c.user.UpdateJobStatus(context.Background(), job)
	return passOver(err)
}

func setCondition(s *batchv1.JobStatus, made batchv1.JobCondition) {
	for i := range s.Conditions {
		if s.Conditions[i].Type == made.Type {
			s.Conditions[i] = made
			return
		}
	}
	s.Conditions = append(s.Conditions, made)
}

// stray creates a pod without an owner that the Job selects, as a user does who copies one of its pods.
func stray(c *cluster, name string, args []string) error {
	job := c.world.Server.Job(namespace, name)
	if job == nil || len(args) > 0 && over(job, args[0]) {
		return nil
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, GenerateName: name + "-stray-", Labels: job.Spec.Template.Labels, Annotations: map[string]string{},
		},
		Spec: *job.Spec.Template.Spec.DeepCopy(),
	}
	for key, value := range job.Spec.Template.Annotations {
		pod.Annotations[key] = value
	}
	if len(args) > 0 {
		pod.Annotations[batchv1.JobCompletionIndexAnnotation] = args[0]
	}
	_, err := c.user.CreatePod(context.Background(), pod)
	return passOver(err)
}

// over reports whether an index of a Job has completed or failed. The actions create no stray pod for such an index:
// upstream would keep it, and Jobledger would not (J-071).
func over(job *batchv1.Job, index string) bool {
	if job.Spec.Completions == nil {
		return false
	}
	n, err := strconv.ParseInt(index, 10, 32)
	completed, err1 := apiserver.IndexSet(job.Status.CompletedIndexes, *job.Spec.Completions)
	failed := map[int32]bool{}
	var err2 error
	if job.Status.FailedIndexes != nil {
		failed, err2 = apiserver.IndexSet(*job.Status.FailedIndexes, *job.Spec.Completions)
	}
	return errors.Join(err, err1, err2) == nil && (completed[int32(n)] || failed[int32(n)])
}

// passOver returns nil if err is an answer of the API server, and err otherwise. A user's request may be refused;
// that is no error of the scenario.
func passOver(err error) error {
	if _, answered := status(err); answered {
		return nil
	}
	return err
}
