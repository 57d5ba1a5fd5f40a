package oracle

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// GenerateCrons returns the scenario with CronJobs that a seed determines, and the name of its family (kind of
// scenario).
func GenerateCrons(seed uint64) (Scenario, string) {
	g := &cronGenerator{generator: &generator{Rand: rand.New(rand.NewPCG(seed, 0xc407))}}
	f := cronFamilies[seed%uint64(len(cronFamilies))]
	f.make(g)
	g.Steps[0].Wait += half
	return g.Scenario, f.name
}

// longest limits the simulated time of a scenario. Once it is reached, each further wait is cut to less than an hour.
const longest = 14 * 24 * time.Hour

// half is added to the time of each action. The action then comes in the middle of a second, when nothing else is
// due.
const half = 500 * time.Millisecond

// cronGenerator builds a random scenario with CronJobs.
type cronGenerator struct {
	*generator
	names  []string
	period time.Duration // shortest time between two due times, approximately
	spent  time.Duration
}

// cronFamilies lists the kinds of scenarios with CronJobs. A seed has the family at index seed modulo the number of
// families: of 13 families, seed 27 has the one at index 1.
var cronFamilies = []struct {
	name string
	make func(*cronGenerator)
}{
	{"policies", cronPolicies},
	{"limits", cronLimits},
	{"schedules", cronSchedules},
	{"deadlines", cronDeadlines},
	{"zones", cronZones},
	{"downtime", cronDowntime},
	{"kills", cronKills},
	{"denials", cronDenials},
	{"names", cronNames},
	{"deletions", cronDeletions},
	{"held watches", cronHeld},
	{"old objects", cronOld},
	{"clocks", cronClocks},
}

// timetable is a schedule and its period: about the time between two due times, or the longest wait for one. Short
// periods keep scenarios short, because weeks are slow to simulate: upstream (the built-in controller) has timers
// that fire every few seconds.
type timetable struct {
	text   string
	period time.Duration
}

var timetables = []timetable{
	{"*~*~*~*~*", time.Minute},
	{"*/5~*~*~*~*", 5 * time.Minute},
	{"?/7~*~*~*~?", 8 * time.Minute},
	{"*/10~8-18~*~*~mon-fri", 10 * time.Minute},
	{"1,2,,30~*~*~*~*", 20 * time.Minute},
	{"15~*~*~*~*", time.Hour},
	{"5/20~*/2~*~*~*", time.Hour},
	{"0~9,10,11~*~*~1-5", 8 * time.Hour},
	{"30~6-16/4~*~JAN-dec~Mon-fri", 6 * time.Hour},
	{"0~0~*/2~*~1", 24 * time.Hour},
	{"0~0~13~*~5", 48 * time.Hour},
	{"0~22~*~*~1,2", 48 * time.Hour},
	{"@hourly", time.Hour},
	{"@daily", 24 * time.Hour},
	{"@midnight", 24 * time.Hour},
	{"@weekly", 48 * time.Hour},
	{"@monthly", 48 * time.Hour},
	{"59~23~28-31~*~*", 48 * time.Hour},
}

// intervals are schedules without fixed times: each due time counts from the last run.
var intervals = []timetable{
	{"@every~1m", time.Minute}, {"@every~90s", 90 * time.Second}, {"@every~30s", 30 * time.Second}, {"@every~20m", 20 * time.Minute},
	{"@every~1h30m", 90 * time.Minute}, {"@every~7h13m5s", 7 * time.Hour}, {"@every~45.9s", 45 * time.Second},
}

// schedule returns a random schedule, most often one that is due soon.
func (g *cronGenerator) schedule() timetable {
	switch {
	case g.chance(0.2):
		return intervals[g.IntN(len(intervals))]
	case g.chance(0.6):
		return timetables[g.IntN(7)]
	}
	return timetables[g.IntN(len(timetables))]
}

// cron adds to the scenario a CronJob that the words describe. A later step creates it.
func (g *cronGenerator) cron(name string, t timetable, words ...string) {
	line := []string{name, "schedule=" + t.text}
	for _, word := range words {
		if word != "" {
			line = append(line, word)
		}
	}
	g.CronJobs, g.names = append(g.CronJobs, strings.Join(line, " ")), append(g.names, name)
	if g.period == 0 || t.period < g.period {
		g.period = t.period
	}
}

// some adds one or two CronJobs, and a step that creates them.
func (g *cronGenerator) some(words ...func() string) {
	for _, name := range []string{"a", "b"}[:1+g.IntN(5)/4] {
		var line []string
		for _, word := range words {
			line = append(line, word())
		}
		g.cron(name, g.schedule(), line...)
	}
	g.make()
}

func (g *cronGenerator) make() {
	var deeds []string
	for _, name := range g.names {
		deeds = append(deeds, "create "+name)
	}
	g.after(0, deeds...)
}

// after adds a step with these actions (deeds), d after the step before. If the scenario is long already, the wait is
// cut to less than an hour.
func (g *cronGenerator) after(d time.Duration, deeds ...string) {
	if g.spent += d; g.spent > longest && len(g.Steps) > 1 {
		d %= time.Hour
	}
	if n := len(g.Steps); n > 0 && strings.HasPrefix(g.Steps[n-1].Deeds[0], "start") {
		// One second more after a start, because upstream (the built-in controller) needs up to 100 ms to find its
		// caches filled.
		d += time.Second
	}
	g.Steps = append(g.Steps, Step{Wait: d, Deeds: deeds})
}

// wait returns a random wait in whole seconds, in which no due time, one, or several may come.
func (g *cronGenerator) wait() time.Duration {
	d := g.period
	switch g.IntN(8) {
	case 0:
		d = 0
	case 1:
		d = d/10 + time.Duration(g.Int64N(int64(d/10)))
	case 2, 3, 4:
		d = d/4 + time.Duration(g.Int64N(int64(d)))
	case 5, 6:
		d += time.Duration(g.Int64N(int64(2 * d)))
	default:
		d = time.Duration(g.Int64N(int64(12 * d)))
	}
	return d.Truncate(time.Second)
}

// steps adds n steps. Each has one action, from a random one of the functions, and a random wait.
func (g *cronGenerator) steps(n int, each ...func() string) {
	for range n {
		if deed := each[g.IntN(len(each))](); deed != "" {
			g.after(g.wait(), deed)
		}
	}
}

func (g *cronGenerator) any() string { return g.names[g.IntN(len(g.names))] }

// run returns a random reference to Jobs of a CronJob, such as "a.1": to one of them, or to all.
func (g *cronGenerator) run() string {
	return g.any() + g.pick("", "", "", ".1", ".-1", ".-1", ".*")
}

func (g *cronGenerator) ends() string {
	return g.pick("succeed ", "succeed ", "succeed ", "fail ", "fail ", "begin ") + g.run()
}

func (g *cronGenerator) policy() string { return g.pick("", "policy=Forbid", "policy=Replace") }

func (g *cronGenerator) limits() string {
	return g.pick("", "", "keep=0", "keep=1", "keepFailed=0", "keep=2 keepFailed=2")
}

func (g *cronGenerator) deadline() string {
	seconds := int64(g.period / time.Second)
	return g.pick("", "deadline=0", "deadline=1", fmt.Sprintf("deadline=%d", seconds/2), fmt.Sprintf("deadline=%d", seconds),
		fmt.Sprintf("deadline=%d", 3*seconds+7), "deadline=200000")
}

func (g *cronGenerator) suspend() string {
	return "edit " + g.any() + g.pick(" suspend=true", " suspend=true", " suspend=false", " suspend=false", " suspend=false")
}

// touch returns a random change of a CronJob or Job on which no decision depends.
func (g *cronGenerator) touch() string { return g.pick("touch "+g.any(), "touchrun "+g.run()) }

func (g *cronGenerator) editPolicy() string {
	return "edit " + g.any() + " " + g.pick("policy=Allow", "policy=Forbid", "policy=Replace")
}

func (g *cronGenerator) editLimits() string {
	return "edit " + g.any() + " " + g.pick("keep=0", "keep=1", "keep=3", "keepFailed=0", "keepFailed=2", "keep=1 keepFailed=1")
}

func (g *cronGenerator) editTemplate() string {
	return "edit " + g.any() + " " + g.pick("image=v2", "image=v3", "label=other", "note=x", "label=more note=y")
}

func (g *cronGenerator) editSchedule() string {
	return "edit " + g.any() + " schedule=" + g.near().text
}

// near returns a random schedule whose period is between 1/20 of the scenario's period and 20 times as long.
func (g *cronGenerator) near() timetable {
	for {
		if t := g.schedule(); t.period <= 20*g.period && g.period <= 20*t.period {
			return t
		}
	}
}

// cronPolicies builds scenarios in which Jobs end in time, late or never, under each concurrency policy.
func cronPolicies(g *cronGenerator) {
	g.some(g.policy)
	g.steps(4+g.IntN(10), g.ends, g.ends, g.ends, g.touch, g.editPolicy, g.suspend, g.editTemplate)
}

// cronLimits builds scenarios about the history limits, which decide whether finished Jobs are kept or deleted.
func cronLimits(g *cronGenerator) {
	g.some(g.policy, g.limits)
	g.steps(4+g.IntN(10), g.ends, g.ends, g.ends, g.ends, g.editLimits, g.manual, g.remove)
}

func (g *cronGenerator) manual() string {
	name := g.any()
	return fmt.Sprintf("manual %s %s-by-hand-%d", name, name, g.IntN(3))
}

func (g *cronGenerator) remove() string {
	return "remove " + g.run() + g.pick("", " foreground", " orphan")
}

// cronSchedules builds scenarios in which users edit schedules and templates, and suspend CronJobs.
func cronSchedules(g *cronGenerator) {
	g.some(g.policy)
	g.steps(3+g.IntN(8), g.editSchedule, g.editSchedule, g.ends, g.suspend, g.touch, g.editTemplate, g.editPolicy)
}

// cronDeadlines builds scenarios with a deadline for starts (startingDeadlineSeconds), and with causes for late starts.
func cronDeadlines(g *cronGenerator) {
	t := g.schedule()
	g.period = t.period
	g.cron("a", t, g.policy(), g.deadline())
	g.make()
	edit := func() string {
		if text := g.deadline(); text != "" {
			return "edit a " + text
		}
		return "edit a deadline=none"
	}
	down := func() string {
		g.after(g.wait(), "die 0")
		return "start"
	}
	g.steps(3+g.IntN(8), g.ends, g.ends, edit, g.suspend, g.suspend, g.editSchedule, down)
}

// cronZones builds scenarios with time zones, around days on which clocks change to or from summer time.
func cronZones(g *cronGenerator) {
	day := []struct{ zone, date string }{
		{"America/New_York", "2026-03-08"}, {"America/New_York", "2026-11-01"}, {"Europe/Berlin", "2026-03-29"}, {"Europe/Berlin", "2026-10-25"},
		{"Australia/Lord_Howe", "2026-04-05"}, {"Australia/Lord_Howe", "2026-10-04"}, {"Africa/Cairo", "2026-04-24"}, {"Africa/Cairo", "2026-10-30"},
		{"Pacific/Chatham", "2026-04-05"}, {"Asia/Kolkata", "2026-05-01"}, {"America/Sao_Paulo", "2026-02-15"}, {"Etc/GMT+12", "2026-02-15"},
	}[g.IntN(12)]
	at, _ := time.Parse(time.DateOnly, day.date)
	until := at.Add(-time.Duration(20+g.IntN(60)) * time.Hour).Sub(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	t := []timetable{
		{"30~2~*~*~*", 24 * time.Hour}, {"30~1~*~*~*", 24 * time.Hour}, {"0~*~*~*~*", time.Hour}, {"*/30~0-4~*~*~*", time.Hour},
		{"0~0~*~*~*", 24 * time.Hour}, {"@daily", 24 * time.Hour}, {"15~3~*~*~sun", 24 * time.Hour}, {"@every~5h", 5 * time.Hour}, {"45~2,14~*~*~*", 12 * time.Hour},
	}[g.IntN(9)]
	g.cron("a", t, g.policy(), g.pick("zone="+day.zone, "zone="+day.zone, "zone="+day.zone, ""))
	g.after(until, "create a")
	g.spent = 0
	other := func() string { return "edit a zone=" + g.pick("none", "UTC", day.zone, day.zone, "Asia/Tokyo") }
	down := func() string {
		g.after(g.wait(), "die 0")
		return "start"
	}
	g.steps(3+g.IntN(6), g.ends, g.ends, other, g.suspend, down, g.editTemplate)
	g.after(time.Duration(g.IntN(5))*24*time.Hour, g.ends())
}

// cronDowntime builds scenarios in which no controller runs for a while.
func cronDowntime(g *cronGenerator) {
	g.some(g.policy, g.limits)
	for range 1 + g.IntN(4) {
		g.steps(g.IntN(4), g.ends, g.ends, g.editTemplate, g.manual)
		g.after(g.wait(), "die 0")
		g.steps(g.IntN(4), g.ends, g.ends, g.remove, g.editTemplate, g.editSchedule, g.editPolicy, g.editLimits, g.suspend, g.manual)
		wait := g.wait()
		if g.chance(0.15) {
			wait = (g.period * time.Duration(90+g.IntN(40))).Truncate(time.Second)
		}
		g.after(wait, g.pick("start", "start", "start lost"))
	}
	g.steps(g.IntN(4), g.ends)
}

// cronKills builds scenarios in which the controller is killed in the middle of its work. They have only one CronJob,
// because if two are due at the same time, either may be first.
func cronKills(g *cronGenerator) {
	g.cron("a", g.schedule(), g.policy(), g.limits())
	g.make()
	for range 1 + g.IntN(3) {
		g.steps(g.IntN(4), g.ends, g.ends, g.editTemplate)
		g.after(g.wait(), "die "+g.pick("createjob", "createjob before", "cronstatus", "cronstatus before", "remove", "remove before", "get before"))
		g.steps(g.IntN(2), g.ends, g.remove)
		g.after(g.wait(), g.pick("start", "start", "start lost"))
	}
	g.steps(g.IntN(4), g.ends)
}

// cronDenials builds scenarios in which the API server refuses the controller's requests for a while, or answers too
// late.
func cronDenials(g *cronGenerator) {
	g.some(g.policy, g.limits)
	for range 1 + g.IntN(2) {
		g.steps(g.IntN(4), g.ends, g.ends, g.editTemplate)
		deny := "deny " + g.pick("createjob", "createjob", "createjob", "remove", "get", "cronstatus", "cronstatus", "getcron") +
			g.pick("", " quota", " error", " unavailable", " lost", " timeout")
		if g.chance(0.4) {
			deny += " once"
		}
		g.after(g.wait(), deny)
		g.steps(g.IntN(4), g.ends, g.ends, g.remove, g.suspend, g.editTemplate)
		g.after(g.wait(), "allow")
	}
	// Upstream (the built-in controller) waits at most 1000 s before it tries again, so by now it has.
	g.after(30*time.Minute, "touch a")
	g.steps(g.IntN(4), g.ends)
}

// cronNames builds scenarios in which names of Jobs are taken, also that of a Job which is deleted at that moment, and
// Jobs are created by hand, lose their owner, or have a finalizer.
func cronNames(g *cronGenerator) {
	g.some(g.policy, g.limits)
	take := func() string {
		return fmt.Sprintf("squat %s %s %d", g.any(), g.pick("nobody", "another", "own"), 1+g.IntN(2))
	}
	exchange := func() string {
		name := g.any()
		g.after(g.wait(), "remove "+name+".-1", "squat "+name+" "+g.pick("nobody", "another", "own")+" 0")
		return ""
	}
	odd := func() string { return g.pick("disown ", "keep ", "unkeep ") + g.run() }
	g.steps(4+g.IntN(8), g.ends, g.ends, take, exchange, odd, odd, g.manual, g.remove)
}

// cronDeletions builds scenarios in which CronJobs are deleted in all ways, and created again.
func cronDeletions(g *cronGenerator) {
	g.some(g.policy, g.limits)
	drop := func() string { return "delete " + g.any() + g.pick("", " foreground", " orphan") }
	again := func() string { return "create " + g.any() }
	odd := func() string { return g.pick("keep ", "unkeep ") + g.run() }
	g.steps(g.IntN(4), g.ends, g.ends, odd)
	g.after(g.wait(), drop())
	g.steps(3+g.IntN(6), again, again, g.ends, drop, odd, g.manual)
}

// cronHeld builds scenarios in which the controller sees an old state for a while, because a watch delivers nothing.
func cronHeld(g *cronGenerator) {
	g.some(g.policy, g.limits)
	for range 1 + g.IntN(2) {
		g.steps(g.IntN(4), g.ends, g.ends, g.editTemplate)
		g.after(g.wait(), "hold "+g.pick("cronjobs", "jobs"))
		g.steps(g.IntN(3), g.ends, g.ends, g.remove, g.suspend, g.editTemplate)
		g.after(g.wait(), "release")
	}
	g.steps(g.IntN(4), g.ends)
}

// cronOld builds scenarios with CronJobs that an old API server has accepted, although today's would refuse them.
func cronOld(g *cronGenerator) {
	t := timetables[g.IntN(5)]
	g.cron("a", t, g.policy())
	bad := func() string {
		if g.chance(0.05) && g.period == time.Minute {
			return "schedule=@every~1ms"
		}
		return g.pick("schedule=TZ=Asia/Tokyo~"+t.text, "schedule=CRON_TZ=Europe/Berlin~0~*~*~*~*", "schedule=TZ=Nowhere/At_All~*~*~*~*~*", "schedule=TZ=0",
			"schedule=*~*~*~*", "schedule=60~*~*~*~*", "schedule=~*~*~*~*~*", "schedule=,~*~*~*~*", "schedule=0~0~30~2~*", "schedule=@reboot", "schedule=@every~x",
			"zone=Nowhere/At_All", "zone=Local", "zone=", "zone=../etc/passwd", "zone=America/New_York", "schedule="+t.text+" zone=none", "schedule="+t.text+" zone=UTC",
			"schedule=@daily~")
	}
	g.after(0, "force a "+bad())
	force := func() string { return "force a " + bad() }
	meddle := func() string {
		seconds := int64(g.period / time.Second)
		return "meddle a " + g.pick("last=none", "active=none", "success=none", fmt.Sprintf("last=%d", seconds*3), fmt.Sprintf("last=%d", -seconds*5), fmt.Sprintf("success=%d", seconds))
	}
	g.steps(3+g.IntN(8), force, force, g.ends, g.ends, g.suspend, g.touch, meddle)
}

// cronClocks builds scenarios in which the controller's clock is slow, and is corrected.
func cronClocks(g *cronGenerator) {
	g.some(g.policy)
	set := func() string {
		if g.chance(0.5) {
			return "clock 0"
		}
		return fmt.Sprintf("clock %d", g.Int64N(int64(3*g.period/time.Second)))
	}
	zone := func() string {
		return "edit " + g.any() + " zone=" + g.pick("none", "UTC", "Asia/Tokyo", "Asia/Kolkata")
	}
	g.steps(4+g.IntN(8), set, set, g.ends, g.ends, g.editTemplate, g.suspend, g.editSchedule, zone)
}
