import type { Command } from 'commander'
import type { Cli } from '../../../cli/cli.ts'
import type { Located } from '../../../cli/objects/address.ts'
import { type CancelOptions, cancelObject } from '../../../cli/objects/cancel-object.ts'
import { type DeleteOptions, deleteObject } from '../../../cli/objects/delete-object.ts'
import { readMachines } from '../../../cli/objects/machines.ts'
import { onObject } from '../../../cli/objects/object-command.ts'
import { parseCount, parseFile, parseLabel, withYes } from '../../../cli/options.ts'
import { type Session, type SessionOptions, withSession, withSessionOptions } from '../../../cli/session.ts'
import { EXIT, type ExitCode } from '../../../cli/terminal/exit.ts'
import { articled } from '../../../cli/terminal/text.ts'
import { notFoundRefusal } from '../../../client-model/index.ts'
import { type EdgeKind, type InstanceKind, kinds } from '../rules/kinds.ts'
import { describeCloudlet, describeInstance } from './describe.ts'
import { addCloudletList, addInstanceList } from './list.ts'
import { argumentOf, placeHelp } from './locate.ts'
import { readCloudlet, readInstance } from './read.ts'
import type { SpecOptions } from './spec.ts'
import {
  type CreateOptions,
  createCloudlet,
  createInstance,
  resolveUpgrade,
  type UpdateOptions,
  type UpgradeOptions,
  updateInstance,
  upgradeCloudlet,
} from './write.ts'

/** `phaseline cloudlet …`: edge sites, each served by a CRM. */
export function addCloudlet(cloudlet: Command, cli: Cli): void {
  addCreate<CreateOptions>(cloudlet, cli, 'CLOUDLET', createCloudlet)
    .description('create a cloudlet to which a CRM is to connect')
    .option('--wait', 'follow it until its CRM has connected')
  onObject<UpgradeOptions>(cloudlet.command('upgrade'), cli, argumentOf('CLOUDLET'), upgradeCloudlet)
    .description('have the CRM of a cloudlet bring up one of another version, which takes over')
    .requiredOption('--to <version>', 'version of the new CRM')
    .option('--wait', 'follow it until the new one has taken over, or that has failed')
  onObject<object>(cloudlet.command('resolve-upgrade'), cli, argumentOf('CLOUDLET'), resolveUpgrade).description(
    'say that an upgrade that had failed is put right, as an administrator',
  )
  withYes(onObject<DeleteOptions>(cloudlet.command('delete'), cli, argumentOf('CLOUDLET'), deleteObject))
    .description('delete a cloudlet that is OFFLINE')
    .option('--cascade', 'with the records of all instances on it')
    .option('--wait', 'follow it until it is gone')
  addCloudletList(cloudlet.command('list'), cli)
  onObject<object>(cloudlet.command('get'), cli, argumentOf('CLOUDLET'), getCloudlet).description(
    'show a cloudlet with its connection, upgrade, instances, and what is not as recorded',
  )
}

/** `phaseline cluster …`: cluster instances on cloudlets. */
export function addCluster(cluster: Command, cli: Cli): void {
  addInstanceCommands(cluster, cli, 'CLUSTER_INST').option('--cascade', 'with the apps in it, which go first')
}

/** `phaseline app …`: app instances in cluster instances. */
export function addApp(app: Command, cli: Cli): void {
  addInstanceCommands(app, cli, 'APP_INST')
}

/** The command that deletes it is given back: it is not the same for all. */
function addInstanceCommands(parent: Command, cli: Cli, kind: InstanceKind): Command {
  const noun = kinds[kind].noun
  const create = addCreate<CreateOptions & SpecOptions>(parent, cli, kind, (session, text, options) =>
    createInstance(session, kind, text, options),
  ).description(kind === 'CLUSTER_INST' ? 'create a cluster on a cloudlet' : 'create an app in a cluster')
  withSpecOptions(create).option('--wait', 'follow it until it is READY, or could not be created')
  const update = onObject<UpdateOptions>(parent.command('update'), cli, argumentOf(kind), (session, located, options) =>
    updateInstance(session, kind, located, options),
  ).description(`change the spec of ${articled(noun)}; when that fails the one from before is restored`)
  withSpecOptions(update)
    .option('--expected-generation <generation>', 'only if it is still at this generation', parseCount)
    .option('--wait', 'follow it until it is READY again')
  onObject<CancelOptions>(parent.command('cancel'), cli, argumentOf(kind), cancelObject)
    .description('withdraw the last request, while its CRM has not begun')
    .option('--reason <text>', 'why, for the log')
    .option('--wait', 'follow it until it is undone')
  addInstanceList(parent.command('list'), cli, kind)
  onObject<object>(parent.command('get'), cli, argumentOf(kind), getInstance).description(
    `show ${articled(noun)} with its spec, its operation${kind === 'CLUSTER_INST' ? ', and the apps in it' : ' and its cloudlet'}`,
  )
  return withYes(onObject<DeleteOptions>(parent.command('delete'), cli, argumentOf(kind), deleteObject))
    .description(`have ${articled(noun)} removed by its CRM`)
    .option('--wait', 'follow it until it is gone')
}

const withSpecOptions = (command: Command): Command =>
  command
    .option('--spec <json>', 'its spec, a JSON object: what is in it is the business of the CRM')
    .option('-f, --file <file>', 'file that holds the spec, as YAML or JSON; - for standard input', parseFile)

function addCreate<T extends CreateOptions>(
  parent: Command,
  cli: Cli,
  kind: EdgeKind,
  work: (session: Session, text: string, options: T) => Promise<ExitCode>,
): Command {
  return withSessionOptions(parent.command('create'))
    .argument(`<${kinds[kind].noun}>`, placeHelp(kind))
    .option('--project <name>', 'project of the cloudlet (default: "default")')
    .option('--label <key=value>', 'a label', parseLabel)
    .option('--key <key>', 'idempotency key: the same again within a day creates nothing new')
    .action(async (text: string, options: SessionOptions & T) => {
      cli.exitCode = await withSession(cli.io, options, (session) => work(session, text, options))
    })
}

export async function getCloudlet(session: Session, { id, name }: Located): Promise<ExitCode> {
  const [cloudlet, machines] = await Promise.all([
    readCloudlet(session, id),
    readMachines(session.client, session.io.signal),
  ])
  if (!cloudlet) return session.refuse(notFoundRefusal(`${name} is gone.`))
  session.emit(cloudlet)
  session.say(...describeCloudlet(cloudlet, machines, Date.now(), session.paint))
  return EXIT.ok
}

export async function getInstance(session: Session, { id, name }: Located): Promise<ExitCode> {
  const instance = await readInstance(session, id)
  if (!instance) return session.refuse(notFoundRefusal(`${name} is gone.`))
  session.emit(instance)
  session.say(...describeInstance(instance, Date.now(), session.paint))
  return EXIT.ok
}
