package judge

import "time"

// Told describes what really happened in a staged situation. All of it comes from the test, and nothing from
// Jobledger's log or answers.
type Told struct {
	Name      string `json:"name"`
	Cause     string `json:"cause"`
	Shape     string `json:"shape"`
	Phase     string `json:"phase"`
	Mode      string `json:"mode"`
	Namespace string `json:"namespace"`
	Job       string `json:"job,omitempty"`
	UID       string `json:"uid,omitempty"`
	Pod       string `json:"pod,omitempty"` // the pod to which the test did something
	PodUID    string `json:"podUID,omitempty"`
	CronJob   string `json:"cronJob,omitempty"`
	CronUID   string `json:"cronUID,omitempty"`
	Did       string `json:"did"` // what the test did, as a sentence

	// Groups of regular expressions. An answer about the Job or CronJob (Says), or about the pod (PodSays), must match
	// at least one of each group.
	Says    [][]string `json:"says,omitempty"`
	PodSays [][]string `json:"podSays,omitempty"`
	// True names further causes that an answer may claim here (see signatures). A sentence that claims any other cause
	// is false.
	True []string `json:"true,omitempty"`
	// Exits are the exit codes that containers had.
	Exits []int32 `json:"exits,omitempty"`
	// Untold says why the log of this mode cannot contain the cause. Says then has what an answer says instead.
	Untold string `json:"untold,omitempty"`

	// What the API server stored at the end of the situation.
	State  string    `json:"state"` // Complete, Failed, Deleted, or Open
	Reason string    `json:"reason,omitempty"`
	Began  time.Time `json:"began"`
	Over   time.Time `json:"over"` // end of the situation; after it, only the test's cleanup acts

	CronSays [][]string  `json:"cronSays,omitempty"` // like Says, for an answer about the CronJob
	Ticks    []TickTruth `json:"ticks,omitempty"`
}

// TickTruth is a due time of a CronJob for which the test asks why-not, and what the answer must say.
type TickTruth struct {
	At      time.Time  `json:"at"`
	Says    [][]string `json:"says,omitempty"`
	Fate    []string   `json:"fate,omitempty"`    // the outcome of the due time must be one of these
	NotFate []string   `json:"notFate,omitempty"` // the outcome must be none of these
}
