// Package agent claims work, renews its leases, and reports how it ends.
package agent

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math/rand"
	"os"
	"sync"
	"time"

	"github.com/phaseline/phaseline/clients/go/client"
	"github.com/phaseline/phaseline/clients/go/internal/retry"
)

const (
	maxClaim  = 500
	maxFences = 1_000
	maxLines  = 500
	// Time that the server may keep a claim open, and from one claim to the next if it does not.
	claimWait = 15 * time.Second
	poll      = time.Second
	// Time that stopped work, and its report, may take when the agent ends.
	stopTime = 5 * time.Second
	// The server takes a longer one as this.
	maxLease = 10 * time.Minute
)

// Func does the work of an agent. Its context ends when it has to stop: Stopped of the work says why. An error that it returns then
// stands for the phase ABORTED; at any other time it fails the item, and so does a panic.
type Func func(ctx context.Context, item client.WorkItem, work *Work) (client.Outcome, error)

// ErrNoReport is returned by work that reports nothing: its lease expires, and it is offered again.
var ErrNoReport = errors.New("nothing is reported")

// Options of an agent. Types are required.
type Options struct {
	// Types of work, all of which the token must allow.
	Types []string
	// Name of the process, unique among those of the token. By default its host and process id.
	Instance string
	// Targets of the work. Nil: all that the token allows, or with TargetSelector none.
	Targets        []string
	TargetSelector *client.TargetSelectorInput
	// The most items at a time. By default 100.
	Concurrency int
	// Length of a lease. By default 30 seconds, at most ten minutes.
	Lease time.Duration
	// Leases are renewed, and abort requests noticed, each time that this has passed. By default, and at most, a third of Lease.
	Renew time.Duration
	// Time that work has to finish when the agent ends. By default 10 seconds; below zero, none.
	Drain time.Duration
	// Called with failures that the agent survives, by several goroutines. By default they are logged.
	OnProblem func(problem Problem)
}

// A Problem is a failure that the agent survives.
type Problem struct {
	// One of claim, renew, report, log and work.
	What string
	Err  error
	// Empty if it concerns no object alone.
	ObjectID string
	// Where work has panicked.
	Stack []byte
}

// Run claims work of these types, does it, renews its leases and reports its outcome, until ctx ends. Then it claims nothing more, lets
// its work finish for the time of Drain, stops what is left and gives it back, and returns nil. It returns the *client.Error by which the
// server refuses this agent: its token is invalid, or does not allow these types. Work that ignores its context is left behind.
func Run(ctx context.Context, c *client.Client, options Options, do Func) error {
	setDefault(&options.Concurrency, 100)
	setDefault(&options.Lease, 30*time.Second)
	options.Lease = minOf(options.Lease, maxLease)
	setDefault(&options.Renew, options.Lease/3)
	options.Renew = minOf(options.Renew, options.Lease/3)
	setDefault(&options.Drain, 10*time.Second)
	if options.Instance == "" {
		host, _ := os.Hostname()
		options.Instance = fmt.Sprintf("%s-%d", host, os.Getpid())
	}
	if options.OnProblem == nil {
		options.OnProblem = logProblem
	}
	base, end := context.WithCancel(values{context.Background(), ctx})
	defer end()
	r := &runner{
		Options: options,
		client:  c,
		do:      do,
		base:    base,
		valid:   options.Lease - minOf(2*time.Second, options.Lease/10),
		active:  map[string]*Work{},
		changed: make(chan struct{}),
		fatal:   make(chan struct{}),
	}
	r.reports = &batcher[report, answer]{
		send: r.sendReports, max: client.MaxReports, final: 5, retryable: 30, added: make(chan struct{}, 1),
		onProblem: func(err error) { r.problem(Problem{What: "report", Err: err}) },
	}
	r.lines = &batcher[client.LogLineInput, struct{}]{
		send: r.sendLines, max: maxLines, final: 1, retryable: 5, ordered: true, added: make(chan struct{}, 1),
		onProblem: func(err error) { r.problem(Problem{What: "log", Err: err}) },
	}
	return r.run(ctx, end)
}

// A runner has what lasts as long as its agent: the items that it works on, by their fences, and the outboxes. Side by side run the loops
// of claims and of renewals, the watch of leases, both outboxes, and two goroutines for each item: its work, and what reports its outcome.
type runner struct {
	Options
	client *client.Client
	do     Func
	// Ends with Run, after the drain.
	base context.Context
	// A lease counts as lost a little before it expires, so that the work stops before another agent can claim it.
	valid   time.Duration
	reports *batcher[report, answer]
	lines   *batcher[client.LogLineInput, struct{}]

	// Guards the fields below, and those of each Work.
	mu     sync.Mutex
	active map[string]*Work
	// Closed, and made anew, when an item has ended.
	changed chan struct{}
	// Closed when err is set.
	fatal chan struct{}
	err   error
}

func (r *runner) run(ctx context.Context, end context.CancelFunc) error {
	claims, stopClaims := context.WithCancel(r.base)
	defer stopClaims()
	claimed := make(chan struct{})
	go func() {
		r.claimLoop(claims)
		close(claimed)
	}()
	var loops sync.WaitGroup
	for _, loop := range []func(ctx context.Context){r.renewLoop, r.watchLoop, r.reports.run, r.lines.run} {
		loops.Add(1)
		go func(loop func(ctx context.Context)) {
			defer loops.Done()
			loop(r.base)
		}(loop)
	}
	select {
	case <-ctx.Done():
	case <-r.fatal:
	}
	// The server releases the items of a claim whose caller has left.
	stopClaims()
	<-claimed
	r.untilIdle(r.Drain, r.fatal)
	if isClosed(r.fatal) {
		r.stopAll(Lost)
	} else {
		r.stopAll(Shutdown)
	}
	r.untilIdle(stopTime, nil)
	r.stopAll(Lost)
	end()
	loops.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

func (r *runner) untilIdle(most time.Duration, unless <-chan struct{}) {
	over := time.NewTimer(most)
	defer over.Stop()
	for {
		room, changed := r.room()
		if room == r.Concurrency {
			return
		}
		select {
		case <-changed:
		case <-over.C:
			return
		case <-unless:
			return
		}
	}
}

func (r *runner) stopAll(reason StopReason) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, work := range r.active {
		work.stop(reason)
	}
}

// The number of items that may be begun, and a channel that is closed when it changes.
func (r *runner) room() (int, <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.Concurrency - len(r.active), r.changed
}

func (r *runner) begin(item client.WorkItem, leasedAt time.Duration) {
	ctx, cancel := context.WithCancel(r.base)
	work := &Work{runner: r, item: item, leasedAt: leasedAt, cancel: cancel, result: make(chan result, 1), givenUp: make(chan error, 1)}
	r.mu.Lock()
	r.active[item.Fence] = work
	r.mu.Unlock()
	go func() {
		defer cancel()
		work.do(ctx)
	}()
	go func() {
		work.finish()
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.active, item.Fence)
		close(r.changed)
		r.changed = make(chan struct{})
	}()
}

func (r *runner) problem(problem Problem) {
	var refusal *client.Error
	if problem.What != "work" && errors.As(problem.Err, &refusal) {
		// The server refuses this claim for good.
		isRefused := problem.What == "claim" && refusal.Code != "" && !refusal.Retryable
		if isRefused || refusal.Kind == client.KindUnauthorized {
			r.fail(refusal)
			return
		}
	}
	defer func() {
		if cause := recover(); cause != nil {
			log.Printf("phaseline: OnProblem has panicked: %v", cause)
		}
	}()
	r.OnProblem(problem)
}

func (r *runner) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = err
		close(r.fatal)
	}
}

func (r *runner) claimLoop(ctx context.Context) {
	for failures := 0; ctx.Err() == nil; {
		room, changed := r.room()
		if room <= 0 {
			await(ctx, changed)
			continue
		}
		sentAt := clock()
		claimed, err := r.claim(ctx, minOf(room, maxClaim), sentAt)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			r.problem(Problem{What: "claim", Err: err})
			retry.Sleep(ctx, retryDelay(failures, err))
			failures++
		default:
			failures = 0
			if claimed == 0 && clock()-sentAt < claimWait/2 {
				// This server does not wait, or shuts down.
				retry.Sleep(ctx, poll*3/4+time.Duration(rand.Int63n(int64(poll/2))))
			}
		}
	}
}

func (r *runner) claim(ctx context.Context, room int, sentAt time.Duration) (int, error) {
	waitMs := milliseconds(claimWait)
	wanted := client.ClaimWorkInput{
		Instance: r.Instance, Types: r.Types, Targets: r.Targets, TargetSelector: r.TargetSelector,
		Max: room, LeaseMs: milliseconds(r.Lease), WaitMs: &waitMs,
	}
	ctx, cancel := context.WithTimeout(ctx, r.client.Timeout()+claimWait)
	defer cancel()
	var answer struct {
		WaitedMs int
		Items    []client.WorkItem
	}
	if err := r.client.Mutate(ctx, "claimWork", client.ClaimDocument, wanted, &answer); err != nil {
		return 0, err
	}
	leasedAt := sentAt + time.Duration(answer.WaitedMs)*time.Millisecond
	for _, item := range answer.Items {
		if clock()-leasedAt < r.valid {
			r.begin(item, leasedAt)
			continue
		}
		// Another agent may have the work by now: better not begun than stopped soon.
		late := errors.New("The lease expired before the answer to the claim arrived, so the item is not begun.")
		r.problem(Problem{What: "claim", Err: late, ObjectID: item.ObjectID})
	}
	return len(answer.Items), nil
}

func (r *runner) renewLoop(ctx context.Context) {
	failures, pause := 0, r.Renew
	for {
		ahead := wallAhead()
		if !retry.Sleep(ctx, pause) {
			return
		}
		// A virtual machine that was paused may show it by its wall clock alone: then all leases are renewed.
		moved := wallAhead() - ahead
		err := r.renew(ctx, moved <= -time.Second || moved >= time.Second)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			failures, pause = 0, r.Renew
			continue
		}
		r.problem(Problem{What: "renew", Err: err})
		pause = minOf(r.Lease/15, retryDelay(failures, err))
		failures++
	}
}

func (r *runner) renew(ctx context.Context, all bool) error {
	r.mu.Lock()
	var due []string
	for fence, work := range r.active {
		if work.stopped != Lost && (all || clock()-work.leasedAt >= r.Renew/2) {
			due = append(due, fence)
		}
	}
	r.mu.Unlock()
	for len(due) > 0 {
		some := minOf(len(due), maxFences)
		if err := r.renewSome(ctx, due[:some]); err != nil {
			return err
		}
		due = due[some:]
	}
	return nil
}

func (r *runner) renewSome(ctx context.Context, fences []string) error {
	sentAt := clock()
	// A call that hangs leaves time for another one.
	ctx, cancel := context.WithTimeout(ctx, minOf(r.client.Timeout(), r.Lease/3))
	defer cancel()
	var answer struct {
		Leases []struct {
			Fence string
			State StopReason
		}
	}
	input := client.RenewLeasesInput{Fences: fences, LeaseMs: milliseconds(r.Lease)}
	if err := r.client.Mutate(ctx, "renewLeases", client.RenewDocument, input, &answer); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, lease := range answer.Leases {
		work := r.active[lease.Fence]
		if work == nil {
			continue
		}
		if lease.State != Lost {
			work.leasedAt = sentAt
		}
		if lease.State == Lost || lease.State == AbortRequested {
			work.stop(lease.State)
		}
	}
	return nil
}

func (r *runner) watchLoop(ctx context.Context) {
	for retry.Sleep(ctx, minOf(time.Second, r.Lease/15)) {
		r.mu.Lock()
		for _, work := range r.active {
			if clock()-work.leasedAt >= r.valid {
				work.stop(Lost)
			}
		}
		r.mu.Unlock()
	}
}

// An answer to a report.
type answer struct {
	Typename string `json:"__typename"`
	Message  string
	Allowed  []string
}

func (r *runner) sendReports(ctx context.Context, reports []report) ([]answer, error) {
	var answers struct{ Results []answer }
	err := r.client.Mutate(ctx, "reportPhases", client.ReportDocument, map[string]any{"reports": reports}, &answers)
	var refusal *client.Error
	// Any report of several may be the invalid one, so each is sent alone.
	if len(reports) == 1 && errors.As(err, &refusal) && refusal.Code == "BAD_USER_INPUT" {
		return []answer{{Typename: "InvalidInputError", Message: refusal.Message}}, nil
	}
	return answers.Results, err
}

func (r *runner) sendLines(ctx context.Context, lines []client.LogLineInput) ([]struct{}, error) {
	input := client.AppendLogsInput{Lines: lines, SentAt: now()}
	return make([]struct{}, len(lines)), r.client.Mutate(ctx, "appendLogs", client.AppendLogsDocument, input, &struct{}{})
}

// The values of another context, without its end.
type values struct {
	context.Context
	of context.Context
}

func (v values) Value(key any) any { return v.of.Value(key) }

var started = time.Now()

// The wall clock of the start, advanced by the monotonic clock: it cannot be set between a line and its sending.
func now() *time.Time {
	at := started.Add(time.Since(started)).UTC().Truncate(time.Millisecond)
	return &at
}

func wallAhead() time.Duration { return time.Duration(time.Now().UnixNano()) - time.Since(started) }

func logProblem(problem Problem) {
	subject := ""
	if problem.ObjectID != "" {
		subject = "object " + problem.ObjectID + ": "
	}
	stack := ""
	if problem.Stack != nil {
		stack = "\n" + string(problem.Stack)
	}
	log.Printf("phaseline: %s%s failed: %v%s", subject, problem.What, problem.Err, stack)
}

func isClosed(channel <-chan struct{}) bool {
	select {
	case <-channel:
		return true
	default:
		return false
	}
}

func milliseconds(duration time.Duration) int { return int(duration.Milliseconds()) }

func setDefault[T comparable](given *T, value T) {
	var none T
	if *given == none {
		*given = value
	}
}

func minOf[T int | time.Duration](one, other T) T {
	if one < other {
		return one
	}
	return other
}
