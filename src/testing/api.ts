/// <reference lib="esnext.disposable" preserve="true" />

import type { Client, PhaseChange, WorkContext, WorkItem, WorkOutcome } from '../client/index.ts'
import type { Actor, ObjectKind, Phase } from '../core/vocabulary.ts'

/** The types of `phaseline/testing`, apart from its code: they name nothing of the server. */

export interface TestServerOptions {
  /** The server's time at the start; the present by default. */
  readonly at?: Date | string | undefined
  /** YAML documents that are applied at the start, as `phaseline apply` does. */
  readonly manifests?: string | undefined
  /** Settings as `phaseline serve` has them, by name. The environment is not read. */
  readonly settings?: Readonly<Record<string, string>> | undefined
}

/** The outcome of a piece of work, or its phase alone; nothing: it has succeeded, or is gone if it was to be deleted. */
// biome-ignore lint/suspicious/noConfusingVoidType: functions without a return may answer
export type Answer = WorkOutcome | Phase | undefined | void

export interface PlayOptions {
  /** The role of the agent: DEPLOYER by default; GADGET_RUNNER for jobs of tasks, RUNTIME for workloads of pipelines. */
  readonly actor?: Actor | undefined
}

/** An agent that a test plays. */
export interface PlayedAgent extends AsyncDisposable {
  /** The work that it was given, in order. */
  readonly items: readonly WorkItem[]
}

export interface UntilOptions {
  /** `default` by default. */
  readonly project?: string | undefined
  /** Any by default: needed if objects of several kinds have the path. */
  readonly kind?: ObjectKind | undefined
  /** Milliseconds of real time after which it fails; 10,000 by default. */
  readonly timeoutMs?: number | undefined
}

/** A whole server with a database of its own, in this process. Dispose it. */
export interface TestServer extends AsyncDisposable {
  /** The GraphQL endpoint. */
  readonly url: string
  /** The administrator's. */
  readonly token: string
  /** Connected as the administrator. */
  readonly client: Client
  /** The time by which the server decides. It runs on by itself. */
  now(): Date
  /**
   * Moves the time on, from one moment at which something is due to the next, and lets the server do at each of them all that is due. Work that
   * an agent has when the time moves has lost its lease.
   * @param by a duration such as 30d or 1h30m, or milliseconds
   */
  advance(by: string | number): Promise<void>
  /** Plays an agent for work of a type, until the server is disposed. */
  play(
    type: string,
    answer?: (item: WorkItem, context: WorkContext) => Answer | Promise<Answer>,
    options?: PlayOptions,
  ): Promise<PlayedAgent>
  /**
   * Waits until an object is in a phase, and returns the change that has led there. It waits in real time and does not move the server's.
   * @param path names from the root down to the object, divided by `/`
   */
  until(path: string, phase: Phase, options?: UntilOptions): Promise<PhaseChange>
  /** Applies YAML documents of any kinds, as `phaseline apply` does. Throws the text that this would print when one is refused. */
  apply(yaml: string): Promise<void>
}

/** Starts a server for tests. The first one of a process starts Postgres, and the others share it. */
export declare function startTestServer(options?: TestServerOptions): Promise<TestServer>
