/** The operator's settings for one provider. Imports little: commands that send nothing read it. */

/** `Settings`: the environment's. `Origins`: plain data that crosses to worker threads. */
export interface Site<Settings, Simulator, Origins> {
  /** Whether the operator has set its address: then a simulator does not take its place. */
  isPlaced(settings: Settings): boolean;
  /** Whether this is the address of the real provider. */
  isReal(origin: string): boolean;
  /** The operator's address, else the simulator's, if there is one, else the real one. */
  originsOf(settings: Settings, simulator: Simulator | null): Origins;
}
