/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * registry.c - every study there is. To add one: its file, its line here.
 */
#include "study.h"

static const study* const registry[] = {
    &study_converge,
    &study_acary2009_fig2,
    &study_acary2009_fig3,
    &study_acary2009_local_error,
    &study_acary2009_fig4,
    &study_acary2009_fig5,
    &study_acary2008_violation,
    &study_acary2008_splitting,
    &study_acary2008_balls,
    &study_acary2008_higher_order,
    &study_acary2009_fig6,
    &study_acary2009_fig7,
    &study_order_through_events,
    &study_herk_index,
    &study_schindler2011_fig4,
    &study_schindler2011_fig5,
    &study_schindler2011_fig6,
    &study_dg_closed_contact,
    &study_dg_multi_contact,
    &study_dg_take_off,
    &study_dg_friction,
    &study_dg_stability,
    &study_capobianco_fig2,
    &study_variational_order,
    &study_woodpecker,
    &study_energy_ledger,
    &study_potra2006_table1,
    &study_potra2006_table2,
    &study_potra2006_table3,
    &study_potra2006_fig2,
    &study_potra2006_fig4,
    &study_potra2006_fig6,
    &study_potra2006_fig7,
    &study_potra2006_detector,
    &study_potra2006_poisson,
    &study_potra2006_painleve,
    &study_tolerance_proportionality,
    &study_accumulation_times,
    &study_woodpecker_limit_cycle,
    &study_friction_events,
    &study_stiff_carts,
    &study_random_systems,
    &study_work_precision,
    &study_adversarial,
    &study_bodies_pendulum,
    &study_bodies_four_bar,
    &study_bodies_andrews,
    &study_bodies_bricard,
    &study_bodies_flyball,
    &study_bodies_slider_crank,
    &study_bodies_rotation,
    &study_bodies_top,
    &study_bodies_redundant,
    &study_bodies_defects,
};

const study* study_at(int i) {
  return i >= 0 && i < (int)(sizeof registry / sizeof registry[0]) ? registry[i] : NULL;
}
