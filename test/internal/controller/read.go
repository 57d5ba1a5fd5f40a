package controller

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"time"
)

// Record is a record of the log as `jobledger events -o json` writes it; see `jobledger events --help`.
type Record struct {
	Sequence  uint64          `json:"sequence"`
	Time      time.Time       `json:"time"`
	Stream    string          `json:"stream"`
	Kind      string          `json:"kind"`
	Causes    []uint64        `json:"causes"`
	Namespace string          `json:"namespace"`
	Name      string          `json:"name"`
	Facts     json.RawMessage `json:"facts"`
	Evidence  json.RawMessage `json:"evidence"`
}

// Into decodes the facts of the record (its fields, which depend on its kind) into facts.
func (r *Record) Into(facts any) error {
	if err := json.Unmarshal(r.Facts, facts); err != nil {
		return fmt.Errorf("decode the facts of record %d (%s): %w", r.Sequence, r.Kind, err)
	}
	return nil
}

// Command is one command of a decision (a Decided record), such as to create a pod.
type Command struct {
	Type string
	Pod  string
}

// Commands returns the commands of a Decided record in order. The log names a command by the record's number and this
// index.
func (r *Record) Commands() ([]Command, error) {
	var facts struct {
		Steps []struct{ Commands []Command }
	}
	if err := r.Into(&facts); err != nil {
		return nil, err
	}
	var all []Command
	for _, s := range facts.Steps {
		all = append(all, s.Commands...)
	}
	return all, nil
}

// Job has the fields of the output of `jobledger get job/NAME -o json` that tests read.
type Job struct {
	UID    string
	State  string
	Reason string
	Counts struct {
		Active, Ready, Terminating, Succeeded, Failed int32
		Creating                                      int
	}
	Records  uint64
	InFlight []struct {
		Command, Does string
		InDoubt       bool
	}
	Waits   []struct{ For string }
	Refused []Refusal
}

// Refusal is a command that the API server refuses, as `jobledger get` shows it.
type Refusal struct {
	Does, Class, Says string
	Since, Next       time.Time
	Tries             int
}

// CLI runs jobledger with these arguments on the controller's log, and returns its standard output. The error contains
// its standard error.
func (c *Controller) CLI(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, c.config.Program, append(args, "--log", c.Log())...)
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("jobledger %s: %w\n%s%s", strings.Join(args, " "), err, &complaint, &out)
	}
	return out.String(), nil
}

// Records returns records of the log. args are passed to 'jobledger events'; without args it returns all records.
func (c *Controller) Records(ctx context.Context, args ...string) ([]Record, error) {
	out, err := c.CLI(ctx, append([]string{"events", "-o", "json"}, args...)...)
	if err != nil {
		return nil, err
	}
	var all []Record
	for decoder := json.NewDecoder(strings.NewReader(out)); ; {
		var r Record
		if err := decoder.Decode(&r); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("decode a record after %d others: %w", len(all), err)
		}
		all = append(all, r)
	}
}

// Told returns the output of 'jobledger get KIND/NAME -o json' for object; KIND is job or cronjob. A running controller
// is asked over HTTP, because its answer is the same, byte for byte, and the command needs 50 ms of processor time to
// start.
func (c *Controller) Told(ctx context.Context, object string) (string, error) {
	if !c.Running() || c.config.Namespace == "" {
		return c.CLI(ctx, "get", object, "-n", c.config.Namespace, "-o", "json")
	}
	kind, name, _ := strings.Cut(object, "/")
	response, err := get(ctx, c.URL+"/v1/get/"+kind+"/"+c.config.Namespace+"/"+name)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("ask for %s: %s: %w\n%s", object, response.Status, err, text)
	}
	return string(text), nil
}

// Job returns what the log says about the newest Job with a name.
func (c *Controller) Job(ctx context.Context, name string) (Job, error) {
	out, err := c.Told(ctx, "job/"+name)
	if err != nil {
		return Job{}, err
	}
	var job Job
	if err := json.Unmarshal([]byte(out), &job); err != nil {
		return Job{}, fmt.Errorf("decode what get says of job/%s: %w", name, err)
	}
	return job, nil
}

// Check verifies the log and replays it: it makes all decisions again, and compares them. The error says what is
// damaged, or which decision differs.
func (c *Controller) Check(ctx context.Context) error {
	replayed, err := c.CLI(ctx, "replay")
	if err != nil {
		return err
	}
	if !strings.Contains(replayed, ", 0 divergences") {
		return fmt.Errorf("the log is not sound:\n%s", replayed)
	}
	return nil
}

// Head asks the running controller for the number (sequence) of the newest durable record.
func (c *Controller) Head(ctx context.Context) (uint64, error) {
	response, err := get(ctx, c.URL+"/v1/log")
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	var info struct{ Sequence uint64 }
	if err := json.NewDecoder(response.Body).Decode(&info); err != nil {
		return 0, fmt.Errorf("read the head of the log: %w", err)
	}
	return info.Sequence, nil
}
