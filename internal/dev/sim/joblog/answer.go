package joblog

import (
	"fmt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/reconciler/loop"
)

// answer carries out a command of the controller in the simulated cluster. The loop gets the watch event of the effect
// before or after the answer.
func (c *cluster) answer(task events.Task) {
	r := events.TaskResult{
		Stream: task.Stream, Ended: task.Ended(events.Done),
		Evidence: events.Evidence{Namespace: task.Job.Namespace, Name: task.Pod.Name},
	}
	r.Ended.Sent = true
	j := c.jobs[task.Job.UID]
	if j == nil {
		r.Ended.Ending, r.Ended.Class = events.Refused, events.RefusedNotFound
		c.inputs = append(c.inputs, loop.Input{Result: &r})
		return
	}
	before := len(c.inputs)
	c.do(j, task, &r)
	c.inputs = append(c.inputs, loop.Input{Result: &r})
	if last := len(c.inputs) - 1; c.rng.IntN(2) == 0 && before < last {
		c.inputs[before], c.inputs[last] = c.inputs[last], c.inputs[before]
	}
}

// do changes the cluster as the command says, sends the watch event, and fills in the result.
func (c *cluster) do(j *job, task events.Task, r *events.TaskResult) {
	switch command := task.Command.(type) {
	case *events.CreatePod:
		p := c.newPod(j, command)
		c.show(p)
		r.Ended.UID, r.Ended.Version, r.Evidence.Name = p.seen.UID, p.seen.Version, p.name
	case *events.DropFinalizer:
		p := j.pod(command.Pod)
		p.seen.Tracked = false
		c.show(p)
		r.Ended.UID, r.Ended.Version = command.Pod, p.seen.Version
	case *events.DeletePod:
		c.gone(j.pod(command.Pod))
		r.Ended.UID = command.Pod
	case *events.WriteStatus:
		j.seen.Status = task.Status
		c.showJob(j)
		r.Ended.UID, r.Ended.Version, r.Evidence.Name = j.ref.UID, j.seen.Version, j.ref.Name
		for _, condition := range task.Status.Conditions {
			if (condition.Type == "Complete" || condition.Type == "Failed") && condition.Status == "True" && !j.over {
				j.over = true
				c.active--
				c.over = append(c.over, j)
			}
		}
	default:
		panic(fmt.Sprintf("joblog: the cluster does not know %T", command)) // the loop gives no other command here
	}
}

func (c *cluster) newPod(j *job, command *events.CreatePod) *pod {
	prefix := j.ref.Name + "-"
	if command.Index != events.NoIndex {
		prefix = fmt.Sprintf("%s-%d-", j.ref.Name, command.Index)
	}
	p := &pod{job: j, name: c.log.Identity().PodName(j.ref.UID, prefix, command.Ordinal), seen: events.PodSeen{
		UID: c.uid(), Phase: events.PodPending, Created: c.now.Second(), Tracked: true, Owner: j.ref.UID, Selected: true,
		Index: command.Index, Ordinal: command.Ordinal,
	}}
	j.pods = append(j.pods, p)
	c.alive = append(c.alive, p)
	return p
}
