package judge

import "time"

// Told describes a staged situation. Nothing in it comes from the log of Jobledger or from an answer.
type Told struct {
	Name      string `json:"name"`
	Cause     string `json:"cause"`
	Shape     string `json:"shape"`
	Phase     string `json:"phase"`
	Mode      string `json:"mode"`
	Namespace string `json:"namespace"`
	Job       string `json:"job,omitempty"`
	UID       string `json:"uid,omitempty"`
	Pod       string `json:"pod,omitempty"` // the pod that the action was done to
	PodUID    string `json:"podUID,omitempty"`
	CronJob   string `json:"cronJob,omitempty"`
	CronUID   string `json:"cronUID,omitempty"`
	Did       string `json:"did"` // as a sentence

	// Groups of regular expressions. An answer about the Job or CronJob (Says) or the pod (PodSays) matches one of each
	// group.
	Says    [][]string `json:"says,omitempty"`
	PodSays [][]string `json:"podSays,omitempty"`
	// True names further signatures that are true here. Any other signature is a false sentence.
	True []string `json:"true,omitempty"`
	// Exits are the exit codes that containers had.
	Exits []int32 `json:"exits,omitempty"`
	// Untold: the reason why the log of this mode cannot have the cause. Says then has what is said in its place.
	Untold string `json:"untold,omitempty"`

	// What the API server stored at the end of the situation.
	State  string    `json:"state"` // Complete, Failed, Deleted, or Open
	Reason string    `json:"reason,omitempty"`
	Began  time.Time `json:"began"`
	Over   time.Time `json:"over"` // the end; after it only the janitor acts

	CronSays [][]string  `json:"cronSays,omitempty"` // like Says, for an answer about the CronJob
	Ticks    []TickTruth `json:"ticks,omitempty"`
}

// TickTruth is a due time that why-not is asked about, and what its answer must say.
type TickTruth struct {
	At      time.Time  `json:"at"`
	Says    [][]string `json:"says,omitempty"`
	Fate    []string   `json:"fate,omitempty"`    // its outcome (fate) is one of these
	NotFate []string   `json:"notFate,omitempty"` // none of these
}
