package agent

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/phaseline/phaseline/clients/go/client"
)

// StopReason is why work has to stop.
type StopReason string

const (
	AbortRequested StopReason = "ABORT_REQUESTED"
	// Another agent may have the work by now. The server accepts no more reports.
	Lost StopReason = "LOST"
	// This agent ends, and gives the work back.
	Shutdown StopReason = "SHUTDOWN"
)

const (
	maxWaitingLines = 20_000
	accepted        = "PhaseReportAccepted"
)

// Phases of an outcome when the work was a deletion.
var whenDeleting = map[string]client.Phase{
	"SUCCEEDED":   client.PhaseGone,
	"FAILED":      client.PhaseDeleteFailed,
	"ABORTED":     client.PhaseDeleteFailed,
	"PROGRESSING": client.PhaseDeleting,
}

// Phases of work that its agent could not do, where it is not FAILED. Empty: the work is offered again when its lease ends.
var whenFailed = map[client.WorkAction]client.Phase{
	client.WorkActionDelete: client.PhaseDeleteFailed,
	client.WorkActionRun:    client.PhaseUndoing,
	client.WorkActionUndo:   client.PhaseUndoFailed,
	client.WorkActionAbort:  client.PhaseUndoFailed,
	client.WorkActionStop:   "",
	client.WorkActionRemove: "",
	client.WorkActionDryRun: "",
}

// Phases of work that only the agent's own end has stopped: another agent continues it.
var whenGivenBack = map[client.WorkAction]client.Phase{
	client.WorkActionReconcile: client.PhaseProgressing,
	client.WorkActionDelete:    client.PhaseDeleting,
}

// Work is one claimed item: its lease, and its reports in order. Its methods may be called by several goroutines.
type Work struct {
	runner *runner
	item   client.WorkItem
	cancel context.CancelFunc
	result chan result
	// The error of work that is not waited for any more.
	givenUp chan error

	// The mutex of the runner guards the fields below.
	leasedAt time.Duration
	stopped  StopReason
	ended    bool
	next     report
	// Closed when no progress is left to send; nil if there is none.
	delivery     chan struct{}
	lastLine     <-chan struct{}
	droppedLines int
}

type result struct {
	// Nil for none.
	report report
	err    error
	stack  []byte
}

// Stopped says why the context of the work has ended. Empty: the work may continue.
func (w *Work) Stopped() StopReason {
	w.runner.mu.Lock()
	defer w.runner.mu.Unlock()
	return w.stopped
}

// Report sends progress. Newer progress replaces progress that is not sent yet. Progress that cannot be sent fails the work.
func (w *Work) Report(progress client.Outcome) {
	next, err := reportOf(progress)
	if err != nil {
		w.giveUp(fmt.Errorf("Report was refused: %w", err))
		return
	}
	w.runner.mu.Lock()
	defer w.runner.mu.Unlock()
	if w.ended || w.stopped == Lost {
		return
	}
	for field, value := range w.next {
		if _, isNewer := next[field]; !isNewer {
			next[field] = value
		}
	}
	w.next = next
	if w.delivery == nil {
		w.delivery = make(chan struct{})
		go w.deliver()
	}
}

// Log sends a line of output.
func (w *Work) Log(stream client.LogStream, text string) {
	w.runner.mu.Lock()
	defer w.runner.mu.Unlock()
	// Lines that come after the lease is lost are sent, too: the server knows whether the work is another agent's.
	if w.ended {
		return
	}
	if w.runner.lines.size() >= maxWaitingLines {
		w.droppedLines++
		return
	}
	if w.droppedLines > 0 {
		w.addLine(client.LogStreamSystem, fmt.Sprintf("%d lines were dropped.", w.droppedLines))
		w.droppedLines = 0
	}
	w.addLine(stream, fit(text, client.MaxLogLine))
}

func (w *Work) addLine(stream client.LogStream, text string) {
	w.lastLine = w.runner.lines.add(client.LogLineInput{Fence: w.item.Fence, At: now(), Stream: stream, Text: text})
}

// Its caller holds the mutex.
func (w *Work) stop(reason StopReason) {
	if w.ended || w.stopped == Lost || w.stopped != "" && reason != Lost {
		return
	}
	w.stopped = reason
	if reason == Lost {
		lease := w.runner.Lease
		time.AfterFunc(lease, func() {
			w.giveUp(fmt.Errorf("Its work continues, %v after it had to stop: it is not waited for any more.", lease))
		})
	}
	w.cancel()
}

func (w *Work) giveUp(err error) {
	select {
	case w.givenUp <- err:
	default:
	}
}

func (w *Work) deliver() {
	for {
		w.runner.mu.Lock()
		next := w.next
		w.next = nil
		if next == nil {
			close(w.delivery)
			w.delivery = nil
			w.runner.mu.Unlock()
			return
		}
		w.runner.mu.Unlock()
		answer, ok := w.send(next)
		switch {
		case !ok || answer.Typename == accepted:
		case answer.Typename == "InvalidInputError":
			w.giveUp(errors.New("Report was refused: " + answer.Message))
		default:
			// The work was ended or deleted, or another agent has claimed it.
			w.runner.mu.Lock()
			w.stop(Lost)
			w.runner.mu.Unlock()
		}
	}
}

// Calls the function of the work. It may panic, and end its goroutine.
func (w *Work) do(ctx context.Context) {
	found := result{err: errors.New("The work has ended its goroutine.")}
	defer func() {
		if cause := recover(); cause != nil {
			found = result{err: fmt.Errorf("panic: %v", cause), stack: debug.Stack()}
		}
		w.result <- found
	}()
	outcome, err := w.runner.do(ctx, w.item, w)
	if err == nil && outcome.Phase == "" && !outcome.Done {
		err = errors.New("The work returned an outcome without a phase.")
	}
	if err != nil {
		found = result{err: err}
		return
	}
	fields, err := reportOf(outcome)
	found = result{report: fields, err: err}
}

// Waits for the work, then reports its outcome.
func (w *Work) finish() {
	final := w.final(w.outcome())
	w.runner.mu.Lock()
	w.ended = true
	lastLine, delivery := w.lastLine, w.delivery
	w.runner.mu.Unlock()
	if lastLine != nil {
		// Work that moves to another agent must miss no line.
		await(w.runner.base, lastLine)
	}
	if delivery != nil {
		await(w.runner.base, delivery)
	}
	if final == nil || w.isNow(Lost) {
		return
	}
	answer, ok := w.send(final)
	if !ok || answer.Typename == accepted {
		return
	}
	// Work whose outcome the server does not take has failed.
	message := fmt.Sprintf("The work returned %v, which the server refused (%s): %s", final.what(), answer.Typename, answer.Message)
	failure := w.failure(message)
	isAllowed := answer.Typename == "InvalidInputError"
	for _, phase := range answer.Allowed {
		isAllowed = isAllowed || failure["phase"] == phase
	}
	if failure != nil && isAllowed {
		w.send(failure)
	}
}

// The outcome of the work; nil if nothing is to be reported.
func (w *Work) outcome() report {
	var found result
	isGivenUp := false
	select {
	case found = <-w.result:
		// A report that was refused fails the work, whatever it returned.
		select {
		case err := <-w.givenUp:
			found, isGivenUp = result{err: err}, true
		default:
		}
	case err := <-w.givenUp:
		found, isGivenUp = result{err: err}, true
		w.cancel()
	case <-w.runner.base.Done():
		return nil
	}
	if found.err == nil || errors.Is(found.err, ErrNoReport) {
		return found.report
	}
	if w.Stopped() != "" && !isGivenUp {
		return report{"phase": string(client.PhaseAborted)}
	}
	w.runner.problem(Problem{What: "work", Err: found.err, ObjectID: w.item.ObjectID, Stack: found.stack})
	return w.failure(found.err.Error())
}

func (w *Work) failure(message string) report {
	phase, isNotFailed := whenFailed[w.item.Action]
	if !isNotFailed {
		phase = client.PhaseFailed
	}
	if phase == "" {
		return nil
	}
	return report{"phase": string(phase), "error": map[string]any{"code": "AGENT_ERROR", "message": message}}
}

// The report of an outcome; nil for none.
func (w *Work) final(outcome report) report {
	phase, ok := outcome["phase"].(string)
	if !ok {
		return outcome
	}
	if w.isNow(Shutdown) && phase == string(client.PhaseAborted) {
		phase, ok := whenGivenBack[w.item.Action]
		if !ok {
			return nil
		}
		return report{"phase": string(phase), "error": map[string]any{
			"code": "AGENT_STOPPED", "message": "Its agent was shut down.", "retryable": true,
		}}
	}
	if w.item.Action == client.WorkActionDelete {
		if _, ok := outcome["error"]; !ok && phase == string(client.PhaseAborted) {
			outcome["error"] = map[string]any{"code": "ABORTED", "message": "Stopped on request."}
		}
		if deleting, ok := whenDeleting[phase]; ok {
			outcome["phase"] = string(deleting)
		}
	}
	return outcome
}

func (w *Work) isNow(reason StopReason) bool { return w.Stopped() == reason }

// False: the report was given up, or the agent ends.
func (w *Work) send(fields report) (answer, bool) {
	fenced := report(fitTexts(fields))
	fenced["fence"] = w.item.Fence
	given, ok := await(w.runner.base, w.runner.reports.add(fenced))
	// A refusal is expected once the lease is lost.
	if ok && given.Typename != accepted && !w.isNow(Lost) {
		err := fmt.Errorf("%v was refused (%s): %s", fields.what(), given.Typename, given.Message)
		w.runner.problem(Problem{What: "report", Err: err, ObjectID: w.item.ObjectID})
	}
	return given, ok
}
