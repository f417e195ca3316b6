import type { Command } from 'commander'
import type { FamilyDefinition } from '../../families/define-family.ts'
import type { AddCommand, Cli, CommandEntry } from '../cli.ts'

/** Commands that all families share, in the order of the help. */
export const commandsOf = (families: readonly FamilyDefinition[]): readonly CommandEntry[] => [
  {
    usage: 'serve [options]',
    group: 'Server',
    description: 'run the server: dashboard, GraphQL API and engine on one port',
    load: async () => withFamilies((await import('./serve.ts')).addServe, families),
  },
  {
    usage: 'backup [options] <file>',
    group: 'Server',
    description: 'write all that the database holds at one moment into a new file, while servers work on',
    load: async () => withFamilies((await import('./backup.ts')).addBackup, families),
  },
  {
    usage: 'restore [options] <file>',
    group: 'Server',
    description: 'make an empty database what it was at a backup, and compare both',
    load: async () => withFamilies((await import('./backup.ts')).addRestore, families),
  },
  {
    usage: 'agent [options]',
    group: 'Agents',
    description: 'run built-in agents or runtimes on this machine, beside any server',
    load: async () => withFamilies((await import('./agent.ts')).addAgent, families),
  },
  {
    usage: 'apply [options]',
    group: 'Change',
    description: 'create or update projects, installations, schedules, hooks and notification rules from documents',
    load: async () => (await import('./apply.ts')).addApply,
  },
  {
    usage: 'status [options]',
    group: 'See',
    description: 'say what there is in a few lines, and what waits for a person',
    load: async () => (await import('./status.ts')).addStatus,
  },
  {
    usage: 'health [options]',
    group: 'See',
    description: 'say whether work can continue, and what a person has to do; the exit code is for scripts',
    load: async () => (await import('./health.ts')).addHealth,
  },
  {
    usage: 'watch [options] <name>',
    group: 'See',
    description: 'show a tree live: phases, progress and what blocks, until it is finished',
    load: async () => (await import('./watch.ts')).addWatch,
  },
  {
    usage: 'get [options] [name]',
    group: 'See',
    description: 'show one object, or list objects: roots, or of all objects those that an option selects',
    load: async () => (await import('./get.ts')).addGet,
  },
  {
    usage: 'tree [options] <name>',
    group: 'See',
    description: 'print a whole tree, as it is or as it was',
    load: async () => (await import('./tree.ts')).addTree,
  },
  {
    usage: 'plan [options]',
    group: 'Change',
    description: 'show what apply would do, in order, without doing it',
    load: async () => (await import('./plan.ts')).addPlan,
  },
  {
    usage: 'explain [options] [field]',
    group: 'See',
    description: 'explain the documents of apply field by field, e.g. installation.spec.deployItems',
    load: async () => (await import('./explain.ts')).addExplain,
  },
  {
    usage: 'edit [options] <name>',
    group: 'Change',
    description: 'open the manifest of a root installation in your editor ($VISUAL, $EDITOR), and apply what you save',
    load: async () => (await import('./edit.ts')).addEdit,
  },
  {
    usage: 'export [options] [names...]',
    group: 'Change',
    description: 'print documents as apply takes them, of objects, a project or all; secrets have their names only',
    load: async () => (await import('./export.ts')).addExport,
  },
  {
    usage: 'git-sync [options]',
    group: 'Change',
    description: 'keep the server in line with the documents of a branch or a tag of a Git repository',
    load: async () => (await import('./git-sync.ts')).addGitSync,
  },
  {
    usage: 'cancel [options] [name...]',
    group: 'Change',
    description: 'cancel the running job of an installation, event, job, task or edge instance',
    load: async () => (await import('./cancel.ts')).addCancel,
  },
  {
    usage: 'pause [options] [name...]',
    group: 'Change',
    description: 'hold back new work of an installation, event, task, cloudlet or schedule',
    load: async () => (await import('./pause.ts')).addPause,
  },
  {
    usage: 'resume [options] [name...]',
    group: 'Change',
    description: 'resume a paused installation, event, task, cloudlet or schedule',
    load: async () => (await import('./pause.ts')).addResume,
  },
  {
    usage: 'retry [options] [name...]',
    group: 'Change',
    description: 'run again what failed of an installation, an event or a task, and only that',
    load: async () => (await import('./retry.ts')).addRetry,
  },
  {
    usage: 'approve [options] <name>',
    group: 'Change',
    description: 'approve a gate that waits for people',
    load: async () => (await import('../objects/decide-gate.ts')).addApprove,
  },
  {
    usage: 'reject [options] <name>',
    group: 'Change',
    description: 'reject a gate that waits for people: what waits there fails, or does not start',
    load: async () => (await import('../objects/decide-gate.ts')).addReject,
  },
  {
    usage: 'signal [options] <name> <signal> [json]',
    group: 'Change',
    description: 'open a gate that waits for a signal',
    load: async () => (await import('../objects/decide-gate.ts')).addSignal,
  },
  {
    usage: 'delete [options] [name...]',
    group: 'Change',
    description: 'delete an installation, event, task, cloudlet or edge instance with everything beneath it',
    load: async () => (await import('./delete.ts')).addDelete,
  },
  {
    usage: 'label [options] <name> <changes...>',
    group: 'Change',
    description: 'set and remove labels of any object; nothing runs',
    load: async () => (await import('./label.ts')).addLabel,
  },
  {
    usage: 'log [options] [name]',
    group: 'See',
    description: 'print phase changes, oldest first',
    load: async () => (await import('./log.ts')).addLog,
  },
  {
    usage: 'logs [options] [path]',
    group: 'See',
    description: 'print output of an object, a tree or a project, oldest first',
    load: async () => (await import('./logs.ts')).addLogs,
  },
  {
    usage: 'open [options] [name]',
    group: 'See',
    description: 'print the address of the dashboard, or of an object in it, and on a terminal open it',
    load: async () => (await import('./open.ts')).addOpen,
  },
  {
    usage: 'machines [options] [kind]',
    group: 'See',
    description: 'print the state machines: who may move what from where to where, and why',
    load: async () => (await import('./machines.ts')).addMachines,
  },
  {
    usage: 'project',
    group: 'Work',
    description: 'projects: what their events start, and how much at once',
    load: async () => (await import('./project.ts')).addProject,
  },
  {
    usage: 'secret',
    group: 'Around',
    description: 'set, delete or list secrets of a project; reseal those of all projects',
    load: async () => (await import('./secret.ts')).addSecret,
  },
  {
    usage: 'hook',
    group: 'Around',
    description: 'hooks: addresses to which others post events, and what they posted',
    load: async () => (await import('./hook.ts')).addHook,
  },
  {
    usage: 'gadget',
    group: 'Agents',
    description: 'what helps to write gadgets',
    load: async () => (await import('./gadget.ts')).addGadget,
  },
  {
    usage: 'agents [options]',
    group: 'Agents',
    description: 'list agents that are connected, with the work that they take',
    load: async () => (await import('./agents.ts')).addAgents,
  },
  {
    usage: 'token',
    group: 'Server',
    description: 'create, list or revoke tokens of agents, programs and people',
    load: async () => (await import('./token.ts')).addToken,
  },
  {
    usage: 'audit',
    group: 'Server',
    description: 'who has done what',
    load: async () => (await import('./audit.ts')).addAudit,
  },
  {
    usage: 'seals [options]',
    group: 'Server',
    description: 'print the seals of the log, or keep them in a file elsewhere',
    load: async () => (await import('./seals.ts')).addSeals,
  },
  {
    usage: 'verify [options] <files...>',
    group: 'Server',
    description: 'verify an export of the log without a server: complete, in order, as sealed, each change legal',
    load: async () => (await import('./verify.ts')).addVerify,
  },
  {
    usage: 'archive [options] <folder>',
    group: 'Server',
    description: 'write what has come of log, audit and runs since the last time into files of a folder',
    load: async () => (await import('./archive.ts')).addArchive,
  },
  {
    usage: 'login [options]',
    group: 'Machine',
    description: 'sign in at the issuer of a server, with a browser on any machine',
    load: async () => (await import('./login.ts')).addLogin,
  },
  {
    usage: 'logout [options]',
    group: 'Machine',
    description: 'forget the sign-in at a server, and have its issuer forget it',
    load: async () => (await import('./login.ts')).addLogout,
  },
  {
    usage: 'context',
    group: 'Machine',
    description: 'servers by name, and which one commands call',
    load: async () => (await import('./context.ts')).addContext,
  },
  {
    usage: 'whoami [options]',
    group: 'Machine',
    description: 'say who you are for the server, with which roles, and where the token comes from',
    load: async () => (await import('./whoami.ts')).addWhoami,
  },
  {
    usage: 'init [options] <folder>',
    group: 'Agents',
    description: 'write a project with an agent in TypeScript, a manifest and a test',
    load: async () => (await import('./init.ts')).addInit,
  },
  {
    usage: 'completion <shell>',
    group: 'Machine',
    description: 'print a script that completes commands, options and names in your shell',
    load: async () => (await import('./completion.ts')).addCompletion,
  },
]

const withFamilies =
  (
    add: (command: Command, cli: Cli, families: readonly FamilyDefinition[]) => void,
    families: readonly FamilyDefinition[],
  ): AddCommand =>
  (command, cli) =>
    add(command, cli, families)
