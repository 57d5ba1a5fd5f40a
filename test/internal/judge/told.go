package judge

import "time"

// Told is what was staged. Nothing in it is read from the log of Jobledger or from an answer.
type Told struct {
	Name      string `json:"name"`
	Cause     string `json:"cause"`
	Shape     string `json:"shape"`
	Phase     string `json:"phase"`
	Mode      string `json:"mode"`
	Namespace string `json:"namespace"`
	Job       string `json:"job,omitempty"`
	UID       string `json:"uid,omitempty"`
	Pod       string `json:"pod,omitempty"` // that the deed was done to
	PodUID    string `json:"podUID,omitempty"`
	CronJob   string `json:"cronJob,omitempty"`
	CronUID   string `json:"cronUID,omitempty"`
	Did       string `json:"did"` // in words

	// Regular expressions. An answer about the Job, or the CronJob, has one of each group; likewise one about the pod.
	Says    [][]string `json:"says,omitempty"`
	PodSays [][]string `json:"podSays,omitempty"`
	// What else may be said, by names of signatures. Any other signature is a false sentence.
	True []string `json:"true,omitempty"`
	// Exits are the exit codes that containers had.
	Exits []int32 `json:"exits,omitempty"`
	// Untold: the log of this mode cannot have the cause. Says then has what is said in its place.
	Untold string `json:"untold,omitempty"`

	// What the API server stored when the situation was over.
	State  string    `json:"state"` // Complete, Failed, Deleted, or Open
	Reason string    `json:"reason,omitempty"`
	Began  time.Time `json:"began"`
	Over   time.Time `json:"over"` // after it only the janitor acts

	CronSays [][]string  `json:"cronSays,omitempty"` // likewise of an answer about the CronJob
	Ticks    []TickTruth `json:"ticks,omitempty"`
}

// TickTruth is a due time that why-not is asked for, and what it has to say.
type TickTruth struct {
	At      time.Time  `json:"at"`
	Says    [][]string `json:"says,omitempty"`
	Fate    []string   `json:"fate,omitempty"`    // one of these
	NotFate []string   `json:"notFate,omitempty"` // none of these
}
