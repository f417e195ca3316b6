// The agent of the conformance suite in Go: test/clients/agents/agent.ts says how it is controlled.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/phaseline/phaseline/clients/go/agent"
	"github.com/phaseline/phaseline/clients/go/client"
)

type options struct {
	URL                       string
	Token                     tokens
	Types                     []string
	Instance                  string
	Concurrency               int
	LeaseMs, RenewMs, DrainMs int
	Follow                    *string
	MaxBytes                  int64
}

// One, or several.
type tokens []string

func (t *tokens) UnmarshalJSON(text []byte) error {
	if text[0] != '"' {
		return json.Unmarshal(text, (*[]string)(t))
	}
	*t = tokens{""}
	return json.Unmarshal(text, &(*t)[0])
}

type step []json.RawMessage

type config struct{ First, Steps []step }

type fields map[string]any

var (
	mu    sync.Mutex
	going = map[string]chan struct{}{}
	wrong = map[string]client.Outcome{
		"text":          {},
		"exports":       {Phase: client.PhaseSucceeded, Exports: math.NaN()},
		"large-integer": {Phase: client.PhaseSucceeded, Exports: fields{"id": int64(1) << 60}},
	}
)

func say(event string, more fields) {
	said := fields{"event": event}
	for name, value := range more {
		said[name] = value
	}
	text, err := json.Marshal(said)
	if err != nil {
		panic(err)
	}
	mu.Lock()
	defer mu.Unlock()
	fmt.Println(string(text))
}

func gateOf(name string) chan struct{} {
	mu.Lock()
	defer mu.Unlock()
	if going[name] == nil {
		going[name] = make(chan struct{})
	}
	return going[name]
}

func listen() {
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		close(gateOf(lines.Text()))
	}
}

// An outcome as it is written in a step.
func outcomeIn(text json.RawMessage) (outcome client.Outcome, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	err = decoder.Decode(&outcome)
	return outcome, err
}

func stepsOf(item client.WorkItem) []step {
	if item.Action != client.WorkActionReconcile {
		return []step{{json.RawMessage(`"end"`), json.RawMessage(`{"phase": "SUCCEEDED"}`)}}
	}
	var given config
	if err := json.Unmarshal(item.Config, &given); err != nil {
		panic(err)
	}
	if item.Attempt == 1 && given.First != nil {
		return given.First
	}
	return given.Steps
}

func do(ctx context.Context, item client.WorkItem, work *agent.Work) (client.Outcome, error) {
	say("begin", fields{"name": item.Name, "action": item.Action, "attempt": item.Attempt, "fence": item.Fence})
	for _, one := range stepsOf(item) {
		var what, text string
		_ = json.Unmarshal(one[0], &what)
		if len(one) > 1 {
			_ = json.Unmarshal(one[1], &text)
		}
		switch what {
		case "log":
			work.Log(client.LogStreamStderr, text)
		case "report":
			progress, err := outcomeIn(one[1])
			if err != nil {
				return client.Outcome{}, err
			}
			work.Report(progress)
		case "hold":
			select {
			case <-gateOf(item.Name):
			case <-ctx.Done():
				say("stopped", fields{"name": item.Name, "reason": work.Stopped()})
				return client.Outcome{}, ctx.Err()
			}
		case "endless":
			select {}
		case "exit":
			runtime.Goexit()
		case "raise":
			panic(text)
		case "return":
			return wrong[text], nil
		case "end":
			say("end", fields{"name": item.Name})
			return outcomeIn(one[1])
		}
	}
	return client.Outcome{}, agent.ErrNoReport
}

func problem(found agent.Problem) {
	say("problem", fields{"what": found.What, "message": found.Err.Error()})
}

func follow(ctx context.Context, c *client.Client, after string) error {
	onExpired := func(expired *client.Error) (string, error) {
		say("expired", nil)
		return expired.Extensions["commonCursor"].(string), nil
	}
	return c.Follow(ctx, client.FollowOptions{After: after, Limit: 3, OnExpired: onExpired}, func(page client.LogPage) error {
		for _, change := range page.Changes {
			say("change", fields{"sequence": change.Sequence, "name": change.Name, "to": change.To})
		}
		return nil
	})
}

func run() error {
	var given options
	if err := json.Unmarshal([]byte(os.Args[1]), &given); err != nil {
		return err
	}
	next := func(context.Context) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		token := given.Token[0]
		if len(given.Token) > 1 {
			given.Token = given.Token[1:]
		}
		return token, nil
	}
	c, err := client.New(given.URL, client.Options{TokenFunc: next, MaxAnswerBytes: given.MaxBytes})
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM)
	go func() {
		<-signals
		stop()
		say("stopping", nil)
	}()
	go listen()
	if given.Follow != nil {
		return follow(ctx, c, *given.Follow)
	}
	milliseconds := func(count int) time.Duration { return time.Duration(count) * time.Millisecond }
	return agent.Run(ctx, c, agent.Options{
		Types: given.Types, Instance: given.Instance, Concurrency: given.Concurrency, OnProblem: problem,
		Lease: milliseconds(given.LeaseMs), Renew: milliseconds(given.RenewMs), Drain: milliseconds(given.DrainMs),
	}, do)
}

func main() {
	err := run()
	var refusal *client.Error
	switch {
	case err == nil:
		say("over", fields{"code": nil})
	case errors.As(err, &refusal) && refusal.Code != "":
		say("over", fields{"code": refusal.Code})
	case refusal != nil:
		say("over", fields{"code": refusal.Kind})
	default:
		panic(err)
	}
}
