// Histories that once broke something, as the simulation shortened them.
import Testing

@Suite("Histories that once broke something")
struct FoundTests {
  @Test("a link that an interrupted list lacks is not counted again from zero when the next list has it")
  func interruptedList() {
    let steps = [
      Step(.stop, 17_914_132_103_752_595_011), Step(.interrupted, 4_530_303_411_839_170_936),
      Step(.start, 13_797_925_529_745_098_522),
    ]
    #expect(World.everything.play(steps, seed: 11) == nil)
  }

  @Test("a link that the very first list lacks gets its baseline from the next one")
  func interruptedFirstList() {
    let steps = [
      Step(.stop, 17_914_132_103_752_595_011), Step(.interrupted, 4_530_303_411_839_170_936),
      Step(.trouble, 17_171_049_530_235_424_342), Step(.start, 13_797_925_529_745_098_522),
    ]
    #expect(World.everything.play(steps, seed: 11) == nil)
  }

  @Test("a file that is put back before the new one holds anything goes on, without a label")
  func putBackAtOnce() {
    let steps = [
      Step(.moveOut, 9_740_026_713_964_406_336), Step(.push, 17_623_180_943_994_003_812),
      Step(.ask, 5_390_451_324_196_905_697), Step(.ask, 18_050_311_648_648_355_847),
      Step(.wait, 17_154_789_611_828_696_084), Step(.clock, 16_337_923_031_723_739_776),
      Step(.vanish, 15_457_297_386_019_392_651), Step(.delete, 2_205_375_476_044_239_075),
      Step(.comeBack, 17_744_220_667_138_042_641),
    ]
    #expect(World.nothingUnseen.play(steps, seed: 1_001_663) == nil)
  }

  @Test("a rename between a list and the events after it stays")
  func renamedMeanwhile() {
    let steps = [
      Step(.stop, 12_935_260_791_970_284_112), Step(.meanwhile, 12_343_615_921_743_089_603),
      Step(.start, 4_181_467_377_463_739_153),
    ]
    #expect(World.killed.play(steps, seed: 15) == nil)
  }

  @Test("so does that of a link which the store does not know")
  func unknownRenamedMeanwhile() {
    let steps = [
      Step(.trouble, 10_063_793_700_745_782_209), Step(.create, 613_186_806_684_330_161),
      Step(.relief, 11_397_176_182_178_423_022), Step(.kill, 12_305_443_717_993_581_710),
      Step(.meanwhile, 13_025_885_290_230_041_621), Step(.start, 12_938_969_997_512_485_767),
    ]
    #expect(World.killed.play(steps, seed: 21) == nil)
  }

  @Test("a link that died and came again under its index, both unseen, is counted once")
  func recreatedUnseen() {
    let steps = [
      Step(.create, 17_932_784_467_989_038_958), Step(.create, 5_180_905_102_809_568_050),
      Step(.paused, 17_406_641_621_539_131_384),
    ]
    #expect(World.everything.play(steps, seed: 374) == nil)
  }

  @Test("what an event tells before a store comes late is counted once")
  func toldBeforeTheStoreCame() {
    let steps = [
      Step(.meanwhile, 10_175_971_163_238_205_439), Step(.kill, 6_070_585_265_033_485_843),
      Step(.trouble, 4_424_477_395_603_211_290), Step(.callsFail, 3_196_053_372_520_580_475),
      Step(.start, 13_177_914_962_334_820_198), Step(.meanwhile, 17_501_252_732_021_629_344),
      Step(.push, 440_112_469_828_709_336),
    ]
    #expect(World.killed.play(steps, seed: 992) == nil)
  }

  @Test("what lived and died between a boot and the start leaves no period that claims to be complete")
  func betweenBootAndStart() {
    let steps = [
      Step(.reboot, 12_968_740_387_022_490_029), Step(.pair, 4_065_996_528_526_748_137),
      Step(.push, 10_632_125_219_960_772_236), Step(.meanwhile, 17_610_866_165_655_575_653),
      Step(.start, 2_203_943_898_613_661_228),
    ]
    #expect(World.absentPeriods.play(steps, seed: 23) == nil)
  }

  @Test("a link that was made while nobody watched and dies between the list and the events is counted")
  func diesMeanwhile() {
    let steps = [
      Step(.kill, 16_312_908_901_713_405_192), Step(.create, 12_333_003_614_474_408_764),
      Step(.recreate, 13_063_601_391_977_507_079), Step(.recreate, 15_482_929_997_962_313_272),
      Step(.recreate, 16_836_161_867_980_068_218), Step(.meanwhile, 17_343_147_640_678_389_648),
      Step(.start, 9_851_787_880_037_274_203),
    ]
    #expect(World.recreated.play(steps, seed: 1) == nil)
  }

  @Test("so is one that has the index of a link that the store knows")
  func diesMeanwhileOnAnOldIndex() {
    let steps = [
      Step(.recreate, 15_654_148_168_604_134_827), Step(.recreate, 10_888_755_800_385_153_888),
      Step(.kill, 889_790_185_068_732_505), Step(.meanwhile, 3_357_364_074_273_547_116),
      Step(.start, 17_801_224_253_864_080_694),
    ]
    #expect(World.recreated.play(steps, seed: 104) == nil)
  }

  @Test("a link that is made between a first list that fails and the one that succeeds counts from the latter")
  func madeBeforeFirstList() {
    let steps = [
      Step(.trouble, 12_265_364_708_407_395_196), Step(.kill, 4_902_411_410_988_396_857),
      Step(.callsFail, 13_108_585_607_721_242_437), Step(.start, 11_427_562_007_539_799_336),
      Step(.paused, 7_437_180_375_005_492_675), Step(.rename, 6_372_603_228_960_562_468),
    ]
    #expect(World.everything.play(steps, seed: 1_001_347) == nil)
  }

  @Test("what passes between waking and a sample that comes late leaves no period that claims to be complete")
  func lateAfterSleep() {
    let failing = [
      Step(.callsFail, 4_420_373_018_937_404_555), Step(.suspend, 16_669_060_808_922_207_818),
      Step(.push, 4_286_529_206_652_163_063),
    ]
    #expect(World.periods.play(failing, seed: 45) == nil)
    let meanwhile = [
      Step(.setRight, 2_174_687_652_506_360_816), Step(.meanwhile, 7_493_402_875_405_359_345),
      Step(.suspend, 12_755_690_185_841_722_169),
    ]
    #expect(World.clockless.play(meanwhile, seed: 449) == nil)
  }
}
