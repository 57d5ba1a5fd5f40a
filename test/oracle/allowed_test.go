package oracle

import (
	"strings"
	"testing"
)

// surplus is the beginning of a scenario in which pods are surplus while DELETE is refused.
const surplus = "+0 create a\n+1 deny delete\n+1 edit a parallelism=2\n"

// shrunk is the beginning of a scenario in which a Job succeeds, and is made smaller, while patches are refused;
// shrunkDiff is what differs when they are allowed again.
const (
	shrunk     = "+0 create a\n+1 deny patch a\n+1 succeed a:0; succeed a:1\n+1 edit a completions=1 parallelism=1\n"
	shrunkDiff = "- job a: completedIndexes=\"0\" failedIndexes=unset\n- job a: succeeded=1 failed=0\n" +
		"+ job a: completedIndexes=\"0,1\" failedIndexes=unset\n+ job a: succeeded=2 failed=0\n"
)

// TestADifferenceExplainsNoMore: a diff that only resembles a difference on purpose is an error.
func TestADifferenceExplainsNoMore(t *testing.T) {
	ended := "+ event of a: Normal Completed \"Job completed\" x1\n"
	for _, row := range []struct {
		sentence, scenario, diff string
		known                    bool
	}{
		{"a Job is deleted while it ends", "+0 create a\n+1 succeed a; delete a foreground\n", ended, true},
		{"a Job is deleted while it ends, and made again", "+0 create a\n+1 succeed a; delete a foreground\n",
			"- event of a: Normal Completed \"Job completed\" x1\n+ event of a: Normal Completed \"Job completed\" x2\n", true},
		{"upstream tells of an end, and ours does not", "+0 create a\n+1 succeed a; delete a foreground\n",
			"- event of a: Normal Completed \"Job completed\" x2\n+ event of a: Normal Completed \"Job completed\" x1\n", false},
		{"DELETE is refused, and no Job is deleted", "+0 create a\n+1 deny delete\n+1 succeed a\n", ended, false},
		{"upstream cannot finish a suspended Job", "+0 create a\n+1 edit a suspend=true\n",
			ended + "- job a: startTime=false completionTime=false\n+ job a: startTime=true completionTime=false\n", true},
		{"a suspended Job ends twice", "+0 create a\n+1 edit a suspend=true\n", ended, false},
		{"other failed indexes after a crash", "job a indexed perIndex=0\n+0 create a\n+1 die 1\n",
			"- job a: completedIndexes=\"0\" failedIndexes=\"1\"\n+ job a: completedIndexes=\"0\" failedIndexes=\"\"\n", true},
		{"other completed indexes after a crash", "job a indexed perIndex=0\n+0 create a\n+1 die 1\n",
			"- job a: completedIndexes=\"0\" failedIndexes=\"1\"\n+ job a: completedIndexes=\"\" failedIndexes=\"1\"\n", false},
		{"more pods run while creates of one index fail", "job a indexed\n+0 create a\n+1 deny create a:2 error\n",
			"- job a: active=1 ready=1 terminating=0\n+ job a: active=2 ready=2 terminating=0\n+ pod of a:3 Running deleted=false x\n", true},
		{"more pods run while creates of one index are refused", "job a indexed\n+0 create a\n+1 deny create a:2\n",
			"- job a: active=1 ready=1 terminating=0\n+ job a: active=2 ready=2 terminating=0\n+ pod of a:3 Running deleted=false x\n", true},
		{"more pods run while all creates are refused", "job a indexed\n+0 create a\n+1 deny create\n",
			"- job a: active=1 ready=1 terminating=0\n+ job a: active=2 ready=2 terminating=0\n+ pod of a:3 Running deleted=false x\n", false},
		{"a pod is replaced while one beyond completions stays", "job a indexed\n+0 create a\n+1 deny patch a:3\n+1 edit a completions=3\n+1 kill a:0\n",
			"- job a: active=2 ready=2 terminating=0\n+ job a: active=3 ready=3 terminating=0\n+ pod of a:0 Running deleted=false x\n", true},
		{"it is not, though nothing is beyond completions", "job a indexed completions=5\n+0 create a\n+1 edit a parallelism=3\n+1 deny patch a:3\n+1 kill a:0\n",
			"- job a: active=2 ready=2 terminating=0\n+ job a: active=3 ready=3 terminating=0\n+ pod of a:0 Running deleted=false x\n", false},
		{"upstream alone replaces it", "job a indexed\n+0 create a\n+1 deny patch a:3\n+1 edit a completions=3\n+1 kill a:0\n",
			"- job a: active=3 ready=3 terminating=0\n+ job a: active=2 ready=2 terminating=0\n- pod of a:0 Running deleted=false x\n", false},
		{"fewer pods run meanwhile", "job a indexed\n+0 create a\n+1 deny create a:2 error\n",
			"- job a: active=2 ready=1 terminating=0\n+ job a: active=1 ready=2 terminating=0\n- pod of a:3 Running deleted=false x\n", false},
		{"other pods run after two resizes", "job a indexed\n+0 create a\n+1 edit a completions=1\n+1 edit a parallelism=1\n",
			"- job a: active=3 ready=3 terminating=0\n+ job a: active=1 ready=1 terminating=0\n", false},
		{"a pod that is deleted while the Job succeeds is not counted", "+0 create a\n+1 deny patch a\n+1 succeed a; kill a\n+1 allow\n",
			"- job a: succeeded=2 failed=2\n+ job a: succeeded=2 failed=1\n", true},
		{"it is counted by ours alone", "+0 create a\n+1 deny patch a\n+1 succeed a; kill a\n+1 allow\n",
			"- job a: succeeded=2 failed=1\n+ job a: succeeded=2 failed=2\n", false},
		{"it succeeds while patches are refused, and is made smaller", shrunk + "+1 allow\n",
			shrunkDiff, true},
		{"it is made smaller before that", "+0 create a\n+1 edit a completions=1 parallelism=1\n+1 deny patch a\n+1 succeed a\n+1 allow\n", shrunkDiff, false},
		{"it is made smaller after that", "+0 create a\n+1 deny patch a\n+1 succeed a\n+1 allow\n+1 edit a completions=1 parallelism=1\n", shrunkDiff, false},
		{"another index is left", shrunk + "+1 allow\n", strings.ReplaceAll(shrunkDiff, "\"0\"", "\"1\""), false},
		{"ours is the smaller one", shrunk + "+1 allow\n", strings.NewReplacer("- ", "+ ", "+ ", "- ").Replace(shrunkDiff), false},
		{"other indexes have failed", shrunk + "+1 allow\n", strings.Replace(shrunkDiff, "unset", "\"1\"", 1), false},
		{"upstream took the finalizer of one that stays", "+0 create a\n+1 deny delete\n+1 allow\n",
			"- pod of a: Running deleted=false finalizers=[] x\n+ pod of a: Running deleted=false finalizers=[batch.kubernetes.io/job-tracking] x\n", true},
		{"ours did", "+0 create a\n+1 deny delete\n+1 allow\n",
			"- pod of a: Running deleted=false finalizers=[batch.kubernetes.io/job-tracking] x\n+ pod of a: Running deleted=false finalizers=[] x\n", false},
		{"one that stays without a finalizer fails, and upstream does not count it", surplus + "+1 allow\n+1 fail a\n",
			"- job a: succeeded=0 failed=0\n+ job a: succeeded=0 failed=1\n", true},
		{"upstream alone counts it", surplus + "+1 allow\n+1 fail a\n",
			"- job a: succeeded=0 failed=1\n+ job a: succeeded=0 failed=0\n", false},
		{"ours counts two, and one ended", surplus + "+1 allow\n+1 fail a\n",
			"- job a: succeeded=0 failed=0\n+ job a: succeeded=0 failed=2\n", false},
		{"ours counts it as succeeded, and upstream as failed", surplus + "+1 allow\n+1 fail a\n",
			"- job a: succeeded=0 failed=1\n+ job a: succeeded=1 failed=0\n", false},
		{"it failed before pods were surplus", "+0 create a\n+1 deny delete\n+1 fail a\n+1 edit a parallelism=2\n+1 allow\n",
			"- job a: succeeded=0 failed=0\n+ job a: succeeded=0 failed=1\n", false},
		{"pods were surplus when DELETE was not refused", "+0 create a\n+1 edit a parallelism=2\n+1 deny delete\n+1 fail a\n",
			"- job a: succeeded=0 failed=0\n+ job a: succeeded=0 failed=1\n", false},
		{"another one succeeds", "+0 create a\n+1 deny patch a\n+1 succeed a; kill a\n+1 allow\n",
			"- job a: succeeded=1 failed=2\n+ job a: succeeded=2 failed=1\n", false},
		{"two differences meet: a pod that is deleted is not counted, and a suspended Job without a start time finishes",
			"+0 create a\n+1 deny patch\n+1 edit a suspend=true\n+1 kill a.0\n+1 allow\n",
			suspendedEnd + "- job a: succeeded=2 failed=1\n+ job a: succeeded=2 failed=0\n", true},
		{"the two, and a line that neither explains", "+0 create a\n+1 deny patch\n+1 edit a suspend=true\n+1 kill a.0\n+1 allow\n",
			suspendedEnd + "- job a: succeeded=2 failed=1\n+ job a: succeeded=2 failed=0\n+ pod of a: Running deleted=false x\n", false},
		{"the two, and ours counts more", "+0 create a\n+1 deny patch\n+1 edit a suspend=true\n+1 kill a.0\n+1 allow\n",
			suspendedEnd + "- job a: succeeded=2 failed=0\n+ job a: succeeded=2 failed=1\n", false},
		{"an expired Job whose deletion was refused is deleted within a minute", "+0 create a\n+1 deny remove\n+1 stamp a 390\n+1 allow\n+1 touch a\n",
			"- deleted <job a 1> foreground=true\n+ deleted <job a 1> foreground=true late\n", true},
		{"it takes longer", "+0 create a\n+1 deny remove\n+1 stamp a 390\n+1 allow\n+1 touch a\n",
			"- deleted <job a 1> foreground=true\n+ deleted <job a 1> foreground=true very late\n", false},
		{"another Job is deleted", "+0 create a\n+1 deny remove\n+1 stamp a 390\n+1 allow\n+1 touch a\n",
			"- deleted <job a 1> foreground=true\n+ deleted <job b 1> foreground=true late\n", false},
		{"nothing was refused", "+0 create a\n+1 stamp a 390\n+1 touch a\n",
			"- deleted <job a 1> foreground=true\n+ deleted <job a 1> foreground=true late\n", false},
		{"a Job that had ended is kept, and the oldest goes in its place", replaced,
			"- deleted <job a-2 1>, background at 2026-01-01T00:05:00Z\n+ deleted <job a-1 1>, background at 2026-01-01T00:05:00Z\n", true},
		{"it is kept, and a newer one goes", replaced,
			"- deleted <job a-2 1>, background at 2026-01-01T00:05:00Z\n+ deleted <job a-3 1>, background at 2026-01-01T00:05:00Z\n", false},
		{"it is kept, and none goes: too many are kept", replaced,
			"- deleted <job a-2 1>, background at 2026-01-01T00:05:00Z\n- deleted <job a-1 1>, background at 2026-01-01T00:05:00Z\n", false},
		{"ours deletes later", replaced, "- deleted <job a-2 1>, background at 2026-01-01T00:05:00Z\n" +
			"- deleted <job a-1 1>, background at 2026-01-01T00:04:00Z\n+ deleted <job a-1 1>, background at 2026-01-01T00:05:00Z\n", false},
		{"a Job that is being deleted ends beyond the limits", "cronjob a keepFailed=0\n+0 create a\n+1 delete a foreground\n+1 fail a.-1\n",
			"- event of a: Normal SuccessfulDelete \"Deleted job a-1\"\n+ event of a: Normal SawCompletedJob \"Saw completed job: a-1, condition: Failed\" x1\n", true},
		{"upstream deletes it again, and both tell of its end", "cronjob a keepFailed=0\n+0 create a\n+1 keep a\n+1 remove a.* foreground\n",
			"- event of a: Normal SuccessfulDelete \"Deleted job a-1\"\n", true},
		{"a Job that succeeded was gone before upstream looked", unseenSuccess, "- cronjob a: lastSuccessfulTime=unset\n" +
			"+ cronjob a: lastSuccessfulTime=2026-01-01T00:02:20Z\n+ stored of <cronjob a 1>: last success 2026-01-01T00:02:20Z at 2026-01-01T00:03:30Z\n", true},
		{"it was, and another one has succeeded since", unseenSuccess,
			"+ stored of <cronjob a 1>: last success 2026-01-01T00:02:20Z at 2026-01-01T00:03:30Z\n", true},
		{"it was replaced before that, as none is kept, and another one has succeeded since", replacedSuccess,
			"+ stored of <cronjob a 1>: last success 2026-01-01T00:02:20Z at 2026-01-01T00:03:00Z\n", true},
		{"none that is replaced succeeded then", replacedSuccess,
			"+ stored of <cronjob a 1>: last success 2026-01-01T00:03:30Z at 2026-01-01T00:04:00Z\n", false},
		{"no Job succeeded then", unseenSuccess, "+ stored of <cronjob a 1>: last success 2026-01-01T00:02:21Z at 2026-01-01T00:03:30Z\n", false},
		{"the one that succeeded then was not removed", strings.Replace(unseenSuccess, "remove a.* orphan", "begin a.-1", 1),
			"+ stored of <cronjob a 1>: last success 2026-01-01T00:02:20Z at 2026-01-01T00:03:30Z\n", false},
		{"it was not removed before the watch showed it", strings.Replace(unseenSuccess, "+0 remove", "+0 release\n+0 remove", 1),
			"+ stored of <cronjob a 1>: last success 2026-01-01T00:02:20Z at 2026-01-01T00:03:30Z\n", false},
		{"upstream alone has seen it", unseenSuccess,
			"- stored of <cronjob a 1>: last success 2026-01-01T00:02:20Z at 2026-01-01T00:03:30Z\n", false},
		{"ours alone did not see it", unseenSuccess,
			"- cronjob a: lastSuccessfulTime=2026-01-01T00:02:20Z\n+ cronjob a: lastSuccessfulTime=unset\n", false},
		{"ours tells of another one", "cronjob a keepFailed=0\n+0 create a\n+1 delete a foreground\n+1 fail a.-1\n",
			"- event of a: Normal SuccessfulDelete \"Deleted job a-1\"\n+ event of a: Normal SawCompletedJob \"Saw completed job: a-2, condition: Failed\" x1\n", false},
		{"the answer to the deletion of a Job that has ended is lost", goneUnanswered,
			"- event of a: Normal SawCompletedJob \"Saw completed job: a-1, condition: Failed\" x1\n" +
				"+ event of a: Normal MissingJob \"Active job went missing: a-1\" x1\n", true},
		{"ours misses another Job", goneUnanswered, "- event of a: Normal SawCompletedJob \"Saw completed job: a-1, condition: Failed\" x1\n" +
			"+ event of a: Normal MissingJob \"Active job went missing: a-2\" x1\n", false},
		{"ours misses it twice", goneUnanswered, "- event of a: Normal SawCompletedJob \"Saw completed job: a-1, condition: Failed\" x1\n" +
			"+ event of a: Normal MissingJob \"Active job went missing: a-1\" x2\n", false},
		{"ours tells nothing of its end", goneUnanswered, "- event of a: Normal SawCompletedJob \"Saw completed job: a-1, condition: Failed\" x1\n", false},
		{"upstream misses it", goneUnanswered, "- event of a: Normal MissingJob \"Active job went missing: a-1\" x1\n" +
			"+ event of a: Normal SawCompletedJob \"Saw completed job: a-1, condition: Failed\" x1\n", false},
		{"the deletion was refused", "cronjob a keepFailed=0\n+0 create a\n+1 deny remove quota\n+1 fail a.-1\n",
			"- event of a: Normal SawCompletedJob \"Saw completed job: a-1, condition: Failed\" x1\n" +
				"+ event of a: Normal MissingJob \"Active job went missing: a-1\" x1\n", false},
		{"ours asks for a refused Job later than upstream, which was touched", "cronjob a\n+0 create a\n+1 deny createjob quota\n+1 touch a\n",
			"- event of a: Warning FailedCreate \"a-2 is forbidden\"\n+ event of a: Warning FailedCreate \"a-3 is forbidden\"\n", true},
		{"nothing was touched", "cronjob a\n+0 create a\n+1 deny createjob quota\n",
			"- event of a: Warning FailedCreate \"a-2 is forbidden\"\n+ event of a: Warning FailedCreate \"a-3 is forbidden\"\n", false},
		{"one of the two cannot be: nothing was suspended", "+0 create a\n+1 deny patch\n+1 kill a.0\n+1 allow\n",
			suspendedEnd + "- job a: succeeded=2 failed=1\n+ job a: succeeded=2 failed=0\n", false},
	} {
		s, err := Parse("job a\n" + row.scenario)
		if err != nil {
			t.Fatal(err)
		}
		if known := explained(s, row.diff); (known != nil) != row.known {
			t.Errorf("%s: explained by %+v, want any: %t", row.sentence, known, row.known)
		}
	}
}

const goneUnanswered = "cronjob a keepFailed=0\n+0 create a\n+1 deny remove lost once\n+1 fail a.-1\n"

const replacedSuccess = "cronjob a policy=Replace keep=0\n+0 create a\n+1 hold jobs\n+1 succeed a.-1\n+1 release; succeed a.-1\n"

const unseenSuccess = "cronjob a\n+0 create a\n+1 hold jobs\n+1 succeed a.-1\n+0 remove a.* orphan\n+1 release\n"

const replaced = "cronjob a policy=Replace\n+0 create a\n+1 hold jobs\n+1 fail a.-1\n"

// suspendedEnd is the diff when only ours finishes a suspended Job without a start time (J-156, J-252).
const suspendedEnd = `- job a: startTime=false completionTime=false
+ event of a: Normal Completed "Job completed" x1
+ job a: condition 2 Complete=True CompletionsReached "Reached expected number of succeeded pods"
+ job a: startTime=true completionTime=true
`
