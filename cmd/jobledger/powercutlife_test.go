package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/jobledger/jobledger/cmd/acting"
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/run/controller"
)

// smallFilesCommand is "jobledger run" on a log with small files, which are packed at once: smallFilesCommand DIR
// SERVER. It stops in good order when its standard input ends. Before it writes to the API server, it names the write
// on its standard output, in the form of commandKeys.
const smallFilesCommand = "jobledger-small-files"

func smallFilesMain() {
	if err := runSmallFiles(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func runSmallFiles(dir, server string) error {
	upstream, err := url.Parse(server)
	if err != nil {
		return err
	}
	own, err := os.MkdirTemp("", "jobledger-run")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(own) }() // it is in a directory for what is temporary
	proxy := httptest.NewServer(telling(upstream))
	kubeconfig := filepath.Join(own, "kubeconfig")
	if err := os.WriteFile(kubeconfig, openKubeconfig(proxy.URL), 0o600); err != nil {
		return err
	}
	c, err := assembleRun("--log", dir, "--kubeconfig", kubeconfig, "--leader-elect=false", "--listen=127.0.0.1:0")
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go func() { // ends with the standard input
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	c.RotateBytes, c.PackEvery = 32<<10, 20*time.Millisecond
	return controller.Run(ctx, c)
}

// assembleRun is the controller of "jobledger run" with these flags.
func assembleRun(args ...string) (*controller.Config, error) {
	var f acting.RunFlags
	cmd := &cobra.Command{}
	f.Add(cmd)
	if err := cmd.ParseFlags(args); err != nil {
		return nil, err
	}
	settings, err := f.Settings(cmd.Flags())
	if err != nil {
		return nil, err
	}
	return f.Config(settings, slog.New(slog.NewTextHandler(os.Stderr, nil)))
}

// telling prints a line for each write before it passes the write on to the server. Events are no commands, and are not
// printed.
func telling(upstream *url.URL) http.Handler {
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(upstream) }, FlushInterval: -1}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && path.Base(r.URL.Path) != "events" && path.Base(path.Dir(r.URL.Path)) != "events" {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			fmt.Println(requestKey(r, body))
			r.Body = io.NopCloser(bytes.NewReader(body))
		}
		proxy.ServeHTTP(w, r)
	})
}

// requestKey names the command that a request carries out.
func requestKey(r *http.Request, body []byte) string {
	if r.Method == http.MethodPatch {
		var patch struct{ Metadata struct{ UID types.UID } }
		if json.Unmarshal(body, &patch) == nil {
			return "patch " + string(patch.Metadata.UID)
		}
	}
	object, _, _ := scheme.Codecs.UniversalDeserializer().Decode(body, nil, nil) // nil when it is something else
	switch o := object.(type) {
	case *corev1.Pod:
		_, place, _ := strings.Cut(o.Annotations[events.CommandAnnotation], "/")
		return "create " + place
	case *metav1.DeleteOptions:
		if p := o.Preconditions; p != nil && p.UID != nil {
			return "delete " + string(*p.UID)
		}
	case *batchv1.Job:
		return fmt.Sprintf("status %s/%s", o.UID, o.ResourceVersion)
	}
	return "unknown " + r.Method + " " + r.URL.Path
}

// commandKeys names the commands of a decision as requestKey names the requests that carry them out.
func commandKeys(r *events.Record) (keys []string) {
	decision, ok := r.Facts.(*events.Decision)
	if !ok || r.Kind != events.KindDecided {
		return nil
	}
	for _, step := range decision.Steps {
		for _, command := range step.Commands {
			switch c := command.(type) {
			case *events.CreatePod:
				keys = append(keys, fmt.Sprintf("create %s/%d", r.Stream.ID, c.Ordinal))
			case *events.DropFinalizer:
				keys = append(keys, "patch "+string(c.Pod))
			case *events.DeletePod:
				keys = append(keys, "delete "+string(c.Pod))
			case *events.WriteStatus:
				keys = append(keys, fmt.Sprintf("status %s/%d", r.Stream.ID, c.Base))
			}
		}
	}
	return keys
}
