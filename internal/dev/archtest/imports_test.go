package archtest

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Libraries that only few packages may import.
const (
	clientGo = "k8s.io/client-go/..."
	bbolt    = "go.etcd.io/bbolt/..."
	natsGo   = "github.com/nats-io/nats.go/..."
	natsd    = "github.com/nats-io/nats-server/v2/..."
)

// neverImports is the table of the design's section "Packages". A rule is about all packages that a package imports,
// directly or not.
var neverImports = []struct {
	sentence string
	packages []string
	never    []string
	except   []string
}{
	{
		sentence: "the core knows no Kubernetes client, database or broker",
		packages: []string{"./events", "./projector", "./reconciler", "./reconciler/rules", "./reconciler/observe", "./reconciler/replay", "./projector/intake"},
		never:    []string{clientGo, bbolt, natsGo},
	},
	{
		sentence: "events knows of this module only the wire format",
		packages: []string{"./events"},
		never:    []string{"./..."},
		except:   []string{"./proto/gen/..."},
	},
	{
		sentence: "commands in flight are kept without knowing whose they are",
		packages: []string{"./internal/subject/commands"},
		never:    []string{"./..."},
		except:   []string{"./events", "./proto/gen/..."},
	},
	{
		sentence: "a CronJob is folded from its records, without knowing the Jobs' fold",
		packages: []string{"./internal/subject/cronjob"},
		never:    []string{"./..."},
		except:   []string{"./events", "./internal/subject/commands", "./internal/subject/schedule", "./internal/subject/ticks", "./proto/gen/..."},
	},
	{
		sentence: "what the controller's stream says of budgets and surroundings is folded without knowing any Job",
		packages: []string{"./internal/subject/budget", "./internal/subject/surroundings", "./internal/subject/line"},
		never:    []string{"./..."},
		except:   []string{"./events", "./proto/gen/..."},
	},
	{
		sentence: "specs are kept by their hash, without knowing whose they are",
		packages: []string{"./internal/subject/specs"},
		never:    []string{"./..."},
		except:   []string{"./events", "./internal/subject/indexset", "./internal/subject/policy", "./proto/gen/..."},
	},
	{
		sentence: "sets of indexes are told from their text alone",
		packages: []string{"./internal/subject/indexset"},
		never:    []string{"./..."},
	},
	{
		sentence: "a schedule's instants are found from its text and from rules of zones that it is given",
		packages: []string{"./internal/subject/schedule"},
		never:    []string{"./..."},
	},
	{
		sentence: "the fates of due times follow from schedules and what is told",
		packages: []string{"./internal/subject/ticks"},
		never:    []string{"./..."},
		except:   []string{"./internal/subject/schedule"},
	},
	{
		sentence: "a request for a run is a text that who writes it and who reads it agree on",
		packages: []string{"./internal/subject/trigger"},
		never:    []string{"./...", clientGo},
	},
	{
		sentence: "objects are read from bytes and written as bytes without a client",
		packages: []string{"./internal/wire/kubewire"},
		never:    []string{"./...", clientGo},
		except:   []string{"./events", "./proto/gen/..."},
	},
	{
		sentence: "a Job's status and its policies are values that know nothing of the Job",
		packages: []string{"./internal/subject/status", "./internal/subject/policy"},
		never:    []string{"./..."},
		except:   []string{"./events", "./internal/subject/indexset", "./proto/gen/..."},
	},
	{
		sentence: "projector folds records and knows of this module only events and the values that a Job consists of",
		packages: []string{"./projector"},
		never:    []string{"./..."},
		except:   []string{"./events", "./internal/subject/budget", "./internal/subject/commands", "./internal/subject/cronjob", "./internal/subject/indexset", "./internal/subject/line", "./internal/subject/policy", "./internal/subject/specs", "./internal/subject/surroundings", "./internal/subject/schedule", "./internal/subject/ticks", "./internal/subject/status", "./proto/gen/..."},
	},
	{
		sentence: "observations become records by what the projection says of them",
		packages: []string{"./projector/intake"},
		never:    []string{"./..."},
		except:   []string{"./events", "./projector", "./internal/subject/budget", "./internal/subject/commands", "./internal/subject/cronjob", "./internal/subject/indexset", "./internal/subject/line", "./internal/subject/policy", "./internal/subject/specs", "./internal/subject/surroundings", "./internal/subject/schedule", "./internal/subject/ticks", "./internal/subject/status", "./proto/gen/..."},
	},
	{
		sentence: "what the loop is made of knows the projection and the log's contract, and neither the loop nor a technology",
		packages: []string{
			"./reconciler/due", "./reconciler/tasks", "./reconciler/retries", "./reconciler/admission", "./reconciler/checkpoint",
		},
		never: []string{
			"./reconciler/loop", "./reconciler/executor/...", "./reconciler/job", "./reconciler/cron", "./reconciler/rules", clientGo, bbolt, natsGo,
		},
	},
	{
		sentence: "reconciler decides from a projection and knows neither the store nor a technology",
		packages: []string{"./reconciler", "./reconciler/job", "./reconciler/cron", "./reconciler/rules"},
		never:    []string{"./..."},
		except:   []string{"./events", "./projector", "./reconciler", "./reconciler/job", "./reconciler/cron", "./internal/subject/budget", "./internal/subject/commands", "./internal/subject/cronjob", "./internal/subject/indexset", "./internal/subject/line", "./internal/subject/policy", "./internal/subject/specs", "./internal/subject/surroundings", "./internal/subject/schedule", "./internal/subject/ticks", "./internal/subject/status", "./proto/gen/..."},
	},
	{
		sentence: "the rules of a Job and those of a CronJob do not know each other",
		packages: []string{"./reconciler/job"},
		never:    []string{"./reconciler/cron"},
	},
	{
		sentence: "the rules of a CronJob and those of a Job do not know each other",
		packages: []string{"./reconciler/cron"},
		never:    []string{"./reconciler/job"},
	},
	{
		sentence: "the verdict on a Job is worded from its projection alone",
		packages: []string{"./internal/say/verdict"},
		never:    []string{"./..."},
		except:   []string{"./events", "./projector", "./internal/subject/budget", "./internal/subject/commands", "./internal/subject/cronjob", "./internal/subject/indexset", "./internal/subject/line", "./internal/subject/policy", "./internal/subject/specs", "./internal/subject/surroundings", "./internal/subject/schedule", "./internal/subject/ticks", "./internal/subject/status", "./proto/gen/..."},
	},
	{
		sentence: "events/observation says what is seen without a client or a log, and neither folds nor decides",
		packages: []string{"./events/observation", "./events/observation/observationtest"},
		never:    []string{"./events/informer", "./projector/...", "./reconciler/...", "./store/...", clientGo, bbolt, natsGo},
	},
	{
		sentence: "the simulated world and the logs that it makes for the tests of readers link no client",
		packages: []string{
			"./internal/dev/sim/process", "./internal/dev/sim/drive", "./internal/dev/sim/joblog", "./internal/read/history/historytest",
		},
		never: []string{clientGo},
	},
	{
		sentence: "events/informer observes and neither folds nor decides",
		packages: []string{"./events/informer"},
		never:    []string{"./projector/...", "./reconciler/..."},
	},
	{
		sentence: "events/nats is the wire of publisher and subscribers and brings neither client, server, log nor controller along",
		packages: []string{"./events/nats"},
		never:    []string{"./...", natsGo, natsd, clientGo},
		except:   []string{"./events", "./proto/gen/..."},
	},
	{
		sentence: "a subscriber connects without bringing a server, a log or the controller along",
		packages: []string{"./events/nats/dial"},
		never:    []string{"./projector/...", "./reconciler/...", "./store/...", natsd, clientGo},
	},
	{
		sentence: "events/nats/publish publishes records of any log and neither folds nor decides nor asks the cluster",
		packages: []string{"./events/nats/publish"},
		never:    []string{"./projector/...", "./reconciler/...", "./store/boltlog/...", "./store/storetest/memlog/...", natsd, clientGo, bbolt},
	},
	{
		sentence: "a program that subscribes brings neither a server, a log nor the controller along",
		packages: []string{"./events/nats/subscribe"},
		never:    []string{"./projector/...", "./reconciler/...", "./store/...", "./internal/...", "./events/nats/publish", natsd, clientGo, bbolt},
	},
	{
		sentence: "events/nats/embedded runs a server and knows nothing of records",
		packages: []string{"./events/nats/embedded"},
		never:    []string{"./projector/...", "./reconciler/...", "./store/...", clientGo, bbolt},
	},
	{
		sentence: "events/follow reads records of any log and neither folds nor decides nor asks the cluster",
		packages: []string{"./events/follow"},
		never:    []string{"./projector/...", "./reconciler/...", "./internal/...", "./store/boltlog/...", "./store/storetest/memlog/...", clientGo, bbolt, natsGo},
	},
	{
		sentence: "events/kube reads records from any store and does not fold",
		packages: []string{"./events/kube"},
		never:    []string{"./projector/...", "./store/boltlog/...", "./store/storetest/memlog/...", "./store/natslog/...", bbolt, natsGo},
	},
	{
		sentence: "events/metrics counts what records say, by the fold's own reading of the rules; it neither decides nor asks the cluster",
		packages: []string{"./events/metrics"},
		never:    []string{"./reconciler/...", "./store/boltlog/...", "./store/storetest/memlog/...", "./store/natslog/...", clientGo, bbolt, natsGo},
	},
	{
		sentence: "store is the contract of a log and knows no database",
		packages: []string{"./store"},
		never:    []string{bbolt, natsGo, "database/sql/..."},
	},
	{
		sentence: "the backends do not know each other",
		packages: []string{"./store/boltlog"},
		never:    []string{"./store/storetest/memlog/..."},
	},
	{
		sentence: "the log in memory does not know the one on disk",
		packages: []string{"./store/storetest/memlog"},
		never:    []string{"./store/boltlog/...", bbolt},
	},
	{
		sentence: "what counts in the stream of a replicated log is known without a client, a server or another log",
		packages: []string{"./store/natslog", "./store/natslog/fence"},
		never:    []string{"./...", natsGo, natsd, clientGo, bbolt},
		except:   []string{"./events", "./store", "./store/natslog", "./proto/gen/..."},
	},
	{
		sentence: "a replicated log is written and followed without folding it, and without knowing what it is kept in",
		packages: []string{
			"./store/natslog/stream", "./store/natslog/line", "./store/natslog/replica", "./store/natslog/takeover",
			"./store/natslog/exchange",
		},
		never: []string{
			"./projector/...", "./reconciler/...", "./internal/...", "./store/boltlog/...", "./store/storetest/...", natsd,
			clientGo, bbolt,
		},
	},
	{
		sentence: "the layout of a copy is known without the log that is copied",
		packages: []string{"./store/copylog", "./store/copylog/indir", "./store/copylog/ins3"},
		never:    []string{"./projector/...", "./reconciler/...", "./store/boltlog/...", bbolt, clientGo, natsGo},
	},
	{
		sentence: "logs are copied and restored without folding them or asking a cluster",
		packages: []string{"./internal/run/backup", "./internal/run/beside", "./internal/run/restore"},
		never:    []string{"./projector/...", "./reconciler/...", "./internal/read/...", clientGo, natsGo, "github.com/minio/..."},
	},
	{
		sentence: "a restore is tried without asking a cluster, at a place that is handed in",
		packages: []string{"./internal/run/drill"},
		never:    []string{"./reconciler/loop", "./reconciler/executor/...", clientGo, natsGo, "github.com/minio/..."},
	},
	{
		sentence: "the live tail wraps any log and knows no backend",
		packages: []string{"./store/livetail"},
		never:    []string{"./store/boltlog/...", "./store/storetest/memlog/...", bbolt, natsGo},
	},
	{
		sentence: "the acceptance suite of logs knows no backend",
		packages: []string{"./store/storetest"},
		never:    []string{"./store/boltlog/...", "./store/storetest/memlog/...", "./store/natslog/...", bbolt, natsGo},
	},
	{
		sentence: "observe compares decisions with what is seen, and knows neither the store nor a technology",
		packages: []string{"./reconciler/observe"},
		never:    []string{"./..."},
		except:   []string{"./events", "./projector", "./reconciler", "./reconciler/job", "./internal/subject/budget", "./internal/subject/commands", "./internal/subject/cronjob", "./internal/subject/indexset", "./internal/subject/line", "./internal/subject/policy", "./internal/subject/specs", "./internal/subject/surroundings", "./internal/subject/schedule", "./internal/subject/ticks", "./internal/subject/status", "./proto/gen/..."},
	},
	{
		sentence: "replay decides again from a log without doing I/O of its own",
		packages: []string{"./reconciler/replay"},
		never:    []string{"./store/boltlog/...", "./store/storetest/memlog/..."},
	},
	{
		sentence: "the loop orders and decides and meets neither a technology nor the executor that carries out its commands",
		packages: []string{"./reconciler/loop"},
		never:    []string{"./reconciler/executor/...", clientGo, bbolt, natsGo},
	},
	{
		sentence: "what a log tells of Jobs is known without how it is shown or served",
		packages: []string{"./internal/read/history"},
		never:    []string{"./internal/read/show", "./internal/read/serve", "./store/boltlog/...", "./cmd/...", bbolt, clientGo, natsGo},
	},
	{
		sentence: "what a log tells of due times is known without how it is shown or served",
		packages: []string{"./internal/read/duetimes"},
		never:    []string{"./internal/read/show", "./internal/read/serve", "./store/boltlog/...", "./cmd/...", bbolt, clientGo, natsGo},
	},
	{
		sentence: "questions are answered without how they are shown or where they are asked",
		packages: []string{"./internal/read/ask", "./internal/read/watch", "./internal/read/permit"},
		never:    []string{"./internal/read/show", "./internal/read/serve", "./store/boltlog/...", "./cmd/...", bbolt, clientGo, natsGo},
	},
	{
		sentence: "the endpoint answers from the history and lays out nothing for people",
		packages: []string{"./internal/read/serve"},
		never:    []string{"./internal/read/show", "./store/boltlog/...", bbolt, clientGo, natsGo},
	},
	{
		sentence: "who asks is known without what is asked",
		packages: []string{"./internal/wire/identity"},
		never:    []string{"./..."},
		except:   []string{"./internal/wire/identity"},
	},
	{
		sentence: "the process that many users read in acts on nothing, and opens no log by itself",
		packages: []string{"./internal/run/reader"},
		never: []string{"./reconciler/loop/...", "./reconciler/executor/...", "./internal/run/controller",
			"./store/boltlog/...", "./cmd/...", bbolt, natsGo},
	},
	{
		sentence: "records are given to copies without folding them or answering a question",
		packages: []string{"./internal/run/feed"},
		never: []string{"./store/boltlog/...", "./projector/...", "./reconciler/...", "./internal/read/...", "./internal/run/...",
			"./cmd/...", clientGo, natsGo},
		except: []string{"./internal/read/turns", "./internal/run/feed"},
	},
	{
		sentence: "a copy that readers are answered from acts on nothing",
		packages: []string{"./internal/run/mirror"},
		never: []string{"./reconciler/loop/...", "./reconciler/executor/...", "./internal/run/controller", "./cmd/...",
			natsGo},
	},
	{
		sentence: "what finds a reader neither opens a log nor acts on one",
		packages: []string{"./internal/run/finding"},
		never: []string{"./reconciler/loop/...", "./reconciler/executor/...", "./internal/run/controller", "./internal/run/reader",
			"./store/boltlog/...", "./cmd/...", bbolt, natsGo},
	},
	{
		sentence: "turns are counted without knowing what is asked",
		packages: []string{"./internal/read/turns"},
		never:    []string{"./..."},
		except:   []string{"./internal/read/turns"},
	},
	{
		sentence: "pages and pictures lay out answers, and open no log",
		packages: []string{"./internal/read/page", "./internal/read/picture"},
		never:    []string{"./internal/read/serve", "./internal/read/joblist", "./store/boltlog/...", "./cmd/...", bbolt, clientGo, natsGo},
	},
	{
		sentence: "an agent's tools lay out answers, and open no log",
		packages: []string{"./internal/read/agent"},
		never:    []string{"./internal/read/serve", "./internal/read/joblist", "./store/boltlog/...", "./cmd/...", bbolt, clientGo, natsGo},
	},
	{
		sentence: "what lays out for people reads no log",
		packages: []string{"./internal/read/show"},
		never:    []string{"./internal/read/serve", "./internal/read/joblist", "./store/boltlog/...", bbolt, clientGo, natsGo},
	},
	{
		sentence: "the words for a record are found in records alone",
		packages: []string{"./internal/say/words", "./internal/say/recordjson"},
		never:    []string{"./..."},
		except:   []string{"./events", "./proto/gen/...", "./internal/say/words", "./internal/say/recordjson"},
	},
	{
		sentence: "the executor carries out commands and knows no rule, database or broker",
		packages: []string{"./reconciler/executor"},
		never:    []string{"./reconciler", bbolt, natsGo},
	},
}

// later names packages of the table that do not exist yet.
var later = map[string]string{}

func TestPackagesNeverImport(t *testing.T) {
	g := packages(t)
	for _, row := range neverImports {
		t.Run(row.sentence, func(t *testing.T) {
			for _, from := range row.packages {
				if !g.has(t, from) {
					continue
				}
				way := g.chain(path(from), func(p string) bool {
					return matchesAny(row.never, p) && !matchesAny(row.except, p)
				})
				if way != nil {
					t.Errorf("%s must not import %s:\n\t%s", from, way[len(way)-1], strings.Join(way, "\n\timports "))
				}
			}
		})
	}
}

// has reports whether a package of a table exists. A missing package is allowed only if it is listed in later, or if
// the command does not exist yet. Otherwise its rule would guard nothing, and the test fails.
func (g graph) has(t *testing.T, name string) bool {
	t.Helper()
	_, exists := g[path(name)]
	_, complete := g[path("./cmd/jobledger")]
	reason, awaited := later[name]
	switch {
	case exists && awaited:
		t.Errorf("%s exists: take it from the list of those that come later (%s)", name, reason)
	case !exists && !awaited && complete:
		t.Errorf("%s is in the table but not in the tree: was it renamed?", name)
	}
	return exists
}

// pure lists the packages with results that follow from their arguments alone.
var pure = []string{
	"./events", "./projector", "./internal/subject/budget", "./internal/subject/commands", "./internal/subject/cronjob", "./internal/subject/indexset", "./internal/subject/line", "./internal/subject/policy", "./internal/subject/specs", "./internal/subject/surroundings",
	"./internal/subject/schedule", "./internal/subject/status", "./internal/subject/ticks", "./internal/say/verdict",
	"./projector/intake", "./reconciler", "./reconciler/admission", "./reconciler/checkpoint", "./reconciler/cron",
	"./reconciler/due", "./reconciler/job", "./reconciler/observe", "./reconciler/replay", "./reconciler/retries",
	"./reconciler/rules", "./reconciler/tasks",
}

// without returns a list without some of its names.
func without(list []string, names ...string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(name string) bool { return slices.Contains(names, name) })
}

// TestTheClockIsForbiddenInPurePackages compares the linter's list of packages without a clock with the list above.
func TestTheClockIsForbiddenInPurePackages(t *testing.T) {
	file := filepath.Join(root, ".golangci.yml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	names := make([]string, len(pure))
	for i, name := range pure {
		names[i] = strings.TrimPrefix(name, "./")
	}
	slices.Sort(names)
	want := "path-except: ^(" + strings.Join(names, "|") + `)/[^/]+\.go$` + "\n        text: time comes from the record here\n"
	if !strings.Contains(string(text), want) {
		t.Errorf("%s: the clock is to be forbidden in the pure packages, so the rule about it has to have\n        %s", file, want)
	}
}

// TestPurePackagesReadNothing checks direct imports: a package cannot call what it does not import. The linter
// forbidigo checks calls that need only package time (the clock).
func TestPurePackagesReadNothing(t *testing.T) {
	g := packages(t)
	effects := []string{
		"os/...", "io/fs", "syscall", "golang.org/x/sys/...", // files, processes, the environment
		"net/...",                      // the network
		"math/rand/...", "crypto/rand", // randomness
		"log/...", // loggers
		"testing/...",
	}
	rows := []struct {
		sentence string
		packages []string
		never    []string
	}{
		{
			"a pure package reads no file, environment, network or random source and writes no log",
			pure,
			effects,
		},
		{
			"a fold and a decision do not wait, so they take no context",
			without(pure, "./reconciler/replay"),
			[]string{"context"},
		},
		{
			"a fold and a decision have one goroutine, so they lock nothing",
			without(pure, "./events", "./reconciler/replay"),
			[]string{"sync/...", "golang.org/x/sync/..."},
		},
	}
	for _, row := range rows {
		t.Run(row.sentence, func(t *testing.T) {
			for _, name := range row.packages {
				if !g.has(t, name) {
					continue
				}
				for _, imported := range g[path(name)].Imports {
					if matchesAny(row.never, imported) {
						t.Errorf("%s must not import %s", name, imported)
					}
				}
			}
		})
	}
}

// TestParentNeverImportsItsChild: design §2, invariant 11.
func TestParentNeverImportsItsChild(t *testing.T) {
	g := packages(t)
	for _, parent := range g.sorted() {
		way := g.chain(parent, func(p string) bool { return strings.HasPrefix(p, parent+"/") })
		if way != nil {
			t.Errorf("%s imports what is below it:\n\t%s", parent, strings.Join(way, "\n\timports "))
		}
	}
}

// TestNobodyImportsTheCommand: no package outside of cmd imports a package of the command. The simulated world and the
// tests connect the parts themselves.
func TestNobodyImportsTheCommand(t *testing.T) {
	g := packages(t)
	for _, from := range g.sorted() {
		for _, imported := range g[from].Imports {
			if matches("./cmd/...", imported) && !matches("./cmd/...", from) {
				t.Errorf("%s imports the command package %s", from, imported)
			}
		}
	}
}

// TestTheCommandIsFlagsAndWords checks direct imports: the command chooses a controller and runs it, but imports no
// part of one.
func TestTheCommandIsFlagsAndWords(t *testing.T) {
	g := packages(t)
	parts := []string{
		"./events/informer/...", "./events/observation/...", "./events/kube", "./events/metrics", "./reconciler/executor/...", "./store/livetail",
		"./internal/wire/httpport",
		"k8s.io/client-go/kubernetes/...", "github.com/prometheus/...", "golang.org/x/sync/...",
	}
	for _, of := range []string{"./cmd/jobledger", "./cmd/acting", "./cmd/cli"} {
		for _, imported := range g[path(of)].Imports {
			if matchesAny(parts, imported) {
				t.Errorf("%s imports %s, a part of a controller", of, imported)
			}
		}
	}
	for _, name := range []string{"./internal/read/show", "github.com/spf13/..."} {
		for _, imported := range g[path("./internal/run/controller")].Imports {
			if matches(name, imported) {
				t.Errorf("the controller imports %s, which is for the command", imported)
			}
		}
	}
}

// sorted returns the import paths of the module's own packages, in order.
func (g graph) sorted() []string {
	var own []string
	for p := range g {
		if ours(p) {
			own = append(own, p)
		}
	}
	slices.Sort(own)
	return own
}

// TestOnlyTheDoorNamesABackend: a log is opened by its address, so another backend is one more line in store/open.
func TestOnlyTheDoorNamesABackend(t *testing.T) {
	found := 0
	for _, name := range goFiles(t) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		switch folder := filepath.ToSlash(filepath.Dir(name)); {
		case !imports(file, path("./store/boltlog")):
		case folder == root+"/store/open":
			found++
		case folder == root+"/internal/run/backup", folder == root+"/internal/run/restore": // a copy has the files of this backend
		case folder == root+"/internal/run/beside": // likewise
		case folder == root+"/internal/run/feed", folder == root+"/internal/run/mirror":
		default:
			t.Errorf("%s imports store/boltlog: open the log by its address (store/open)", name)
		}
	}
	if found == 0 {
		t.Error("store/open does not name it either: the test is blind")
	}
}
