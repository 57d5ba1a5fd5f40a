package triggering

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/jobledger/jobledger/internal/subject/trigger"
)

// Config names the CronJob that is to run now. All fields except Note are required.
type Config struct {
	Client          kubernetes.Interface
	Namespace, Name string
	Now             func() time.Time
	Note            func(text string) // called while Run waits, with the reason; may be nil
}

// Asked describes a request for a run, and the controller that will start it.
type Asked struct {
	Namespace string    `json:"namespace"`
	Name      string    `json:"name"`
	UID       types.UID `json:"uid"`
	At        time.Time `json:"at"`
	ID        string    `json:"id"`
	By        string    `json:"by,omitempty"` // name of the caller; empty if the server does not say
	Holder    string    `json:"holder"`       // the controller that runs the CronJobs of the namespace
	Lease     string    `json:"lease"`
}

// Run requests a run of the CronJob now. Its error says why nothing was requested.
func Run(ctx context.Context, c Config) (Asked, error) {
	if c.Note == nil {
		c.Note = func(string) {}
	}
	cronJobs := c.Client.BatchV1().CronJobs(c.Namespace)
	cronJob, err := cronJobs.Get(ctx, c.Name, metav1.GetOptions{})
	if err != nil {
		return Asked{}, fmt.Errorf("read cronjob/%s in namespace %s: %w", c.Name, c.Namespace, err)
	}
	if err := refuse(cronJob); err != nil {
		return Asked{}, err
	}
	holder, lease, err := c.runner(ctx)
	if err != nil {
		return Asked{}, err
	}
	by, err := c.caller(ctx)
	if err != nil {
		return Asked{}, err
	}
	request := trigger.Request{At: c.Now().UTC().Truncate(time.Millisecond), ID: newID(), By: by}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid":         cronJob.UID, // a precondition: the patch fails if another CronJob has the name now
		"annotations": map[string]string{trigger.Annotation: request.String()},
	}})
	if err != nil {
		panic(err) // strings always marshal
	}
	options := metav1.PatchOptions{FieldManager: trigger.Manager}
	if _, err := cronJobs.Patch(ctx, c.Name, types.MergePatchType, patch, options); err != nil {
		return Asked{}, fmt.Errorf("annotate cronjob/%s in namespace %s: %w", c.Name, c.Namespace, err)
	}
	return Asked{
		Namespace: c.Namespace, Name: c.Name, UID: cronJob.UID, At: request.At, ID: request.ID, By: by, Holder: holder, Lease: lease,
	}, nil
}

// refuse returns why the CronJob cannot run now, if its own fields say so; nil if it can.
func refuse(cronJob *batchv1.CronJob) error {
	switch {
	case cronJob.DeletionTimestamp != nil:
		return fmt.Errorf("cronjob/%s is being deleted: it starts no Job any more", cronJob.Name)
	case cronJob.Spec.Suspend != nil && *cronJob.Spec.Suspend:
		return fmt.Errorf("cronjob/%s is suspended: it starts no Job before spec.suspend is false", cronJob.Name)
	}
	return nil
}

// caller returns the name under which the API server knows the caller; empty if the server does not say.
func (c *Config) caller(ctx context.Context) (string, error) {
	review, err := c.Client.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	switch {
	// If the server does not say the caller's name, it is left out: the field manager is recorded in any case.
	case apierrors.IsForbidden(err), apierrors.IsNotFound(err):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("ask the API server who you are: %w", err)
	}
	return trigger.Name(review.Status.UserInfo.Username), nil
}

func newID() string {
	var id [8]byte
	_, _ = rand.Read(id[:]) // never fails
	return hex.EncodeToString(id[:])
}
